package rule

import "mallow/internal/profile"

// ByCaller returns the case with each site taken apart by the functions that
// call it: what happens to a list's nodes as a whole may tell nothing, and to
// those that one caller asks for everything.
func (c *Case) ByCaller() *Case {
	if c.byCaller != nil {
		return c.byCaller
	}
	by := *c
	by.sites = make(map[*profile.Site]*Site)
	by.Sites = by.know(c.callers())
	for _, s := range by.Sites {
		by.sites[s.Site] = s
	}
	by.byCaller = &by
	c.byCaller = &by
	return c.byCaller
}

func (c *Case) callers() []*profile.Part {
	parts := make([]*profile.Part, len(c.Sites))
	for i, s := range c.Sites {
		parts[i] = s.Part
	}
	var all []*profile.Part
	for i, callers := range c.Profile.Split(parts) {
		if len(callers) < 2 {
			all = append(all, parts[i])
			continue
		}
		for _, caller := range callers {
			if c.heavy(caller.Site) {
				all = append(all, caller)
			}
		}
	}
	return all
}
