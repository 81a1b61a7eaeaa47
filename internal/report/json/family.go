package json

import "mallow/internal/profile"

// familyKeys are the processes with their parents, and the programs that left
// nothing.
func familyKeys(p *profile.Profile) (processes []process, programs []unrecorded) {
	index := make(map[*profile.Process]int, len(p.Processes))
	processes = make([]process, 0, len(p.Processes))
	for i, of := range p.Processes {
		index[of] = i
		keys := processKeys(of)
		keys.Begun = of.Begun.String()
		if of.Exit != nil {
			keys.ExitStatus, keys.Signal = &of.Exit.Status, &of.Exit.Signal
		}
		processes = append(processes, keys)
	}
	for i, of := range p.Processes {
		if parent, known := index[of.Parent]; known {
			processes[i].Parent = &parent
		}
	}
	programs = []unrecorded{}
	for _, rec := range p.Recordings {
		if rec.Meta == nil {
			continue
		}
		for _, u := range rec.Meta.Unrecorded {
			keys := unrecorded{Executable: known(u.Executable), Reason: known(u.Reason), Processes: u.Processes, PIDs: append([]uint64{}, u.PIDs...)}
			if u.Parent != 0 {
				keys.ParentPID = &u.Parent
			}
			programs = append(programs, keys)
		}
	}
	return processes, programs
}
