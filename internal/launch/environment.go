package launch

import (
	"slices"
	"strconv"
	"strings"
)

const (
	preloadName = "LD_PRELOAD"
	optionsName = "MALLOW_OPTIONS"
	recordName  = "record"
	cpuName     = "cpu"
	logName     = "log"
	controlName = "control"
	sampleName  = "sample"

	countCallsName = "count_calls"
)

// replaced returns env with each of settings (NAME=VALUE) in the place of the
// setting of that name, or at the end.
func replaced(env, settings []string) []string {
	env = append([]string(nil), env...)
	for _, setting := range settings {
		name, _, _ := strings.Cut(setting, "=")
		i := indexOf(env, name)
		if i < 0 {
			env = append(env, setting)
			continue
		}
		env[i] = setting
	}
	return env
}

func indexOf(env []string, name string) int {
	for i, setting := range env {
		if strings.HasPrefix(setting, name+"=") {
			return i
		}
	}
	return -1
}

func valueOf(env []string, name string) string {
	if i := indexOf(env, name); i >= 0 {
		return env[i][len(name)+1:]
	}
	return ""
}

// passedOn returns settings that say of the process `to` what env says of
// `from`: by these systemd tells a program that sockets, and a watchdog, are
// meant for it and not for a child.
func passedOn(env []string, from, to int) (settings []string) {
	for _, name := range []string{"LISTEN_PID", "WATCHDOG_PID", "SYSTEMD_EXEC_PID"} {
		if valueOf(env, name) == strconv.Itoa(from) {
			settings = append(settings, name+"="+strconv.Itoa(to))
		}
	}
	return settings
}

// Preload returns the setting that loads library before everything else that
// env already preloads.
func Preload(env []string, library string) string {
	libraries := []string{library}
	// ld.so takes both as separators.
	for _, other := range strings.FieldsFunc(valueOf(env, preloadName), func(r rune) bool { return r == ':' || r == ' ' }) {
		if other != library {
			libraries = append(libraries, other)
		}
	}
	return preloadName + "=" + strings.Join(libraries, ":")
}

// RecordInto returns the setting that makes libmallow record into folder, an
// absolute path. Other options in env stay.
func RecordInto(env []string, folder string, o RecordOptions) string {
	options := append(optionsExcept(env, recordName, cpuName, logName, countCallsName, sampleName), recordName+"="+escape(folder))
	if o.CPUHertz > 0 {
		options = append(options, cpuName+"="+strconv.Itoa(o.CPUHertz))
	}
	if o.LogLimit > 0 {
		options = append(options, logName+"="+strconv.FormatUint(o.LogLimit, 10))
	}
	if o.SampleBytes > 0 {
		options = append(options, sampleName+"="+strconv.FormatUint(o.SampleBytes, 10))
	}
	if o.CountCalls != "" {
		options = append(options, countCallsName+"="+escape(o.CountCalls))
	}
	return optionsName + "=" + strings.Join(options, ":")
}

// ControlBy returns the setting by which libmallow can be told later to
// record: with a control file in folder, an absolute path. It returns "" where
// env says already what libmallow is to do.
func ControlBy(env []string, folder string) string {
	options := optionsExcept(env)
	for _, option := range options {
		if name, _, _ := strings.Cut(option, "="); name == recordName || name == controlName {
			return ""
		}
	}
	return optionsName + "=" + strings.Join(append(options, controlName+"="+escape(folder)), ":")
}

func optionsExcept(env []string, names ...string) []string {
	var kept []string
	for _, option := range strings.Split(valueOf(env, optionsName), ":") {
		name, _, _ := strings.Cut(option, "=")
		if option != "" && !slices.Contains(names, name) {
			kept = append(kept, option)
		}
	}
	return kept
}

// escape writes value so that it can stand between colons.
func escape(value string) string {
	return strings.NewReplacer("%", "%25", ":", "%3A", "\n", "%0A").Replace(value)
}
