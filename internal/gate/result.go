// Package gate decides whether a change of a program may pass: it runs the
// benchmarks of a budget, learns of each figure how steady it is, compares it
// with the budget, the merge base and the history, and names the stacks that
// made a figure grow.
package gate

// Schema of a Result's JSON.
const Schema = "mallow.gate/1"

// Result is what a gate found. Forms for people and for servers are written
// from it alone. Times are seconds and sizes bytes, as Check.Unit says.
type Result struct {
	Schema string  `json:"schema"`
	Checks []Check `json:"checks"` // by benchmark, as in the budget, and metric
	// Notes say, in sentences, what the checks must be read with.
	Notes []string `json:"notes"`
}

// Class is how steady a metric is; it is learned by repeating.
type Class string

const (
	Exact   Class = "exact"   // the same in every run
	Bounded Class = "bounded" // within a few parts of a whole
	Noisy   Class = "noisy"   // depends on what else the machine does: times
)

// Reference is what a metric is compared with.
type Reference string

const (
	Budget    Reference = "budget"     // the file in the repository
	MergeBase Reference = "merge base" // where the branch left the one it goes to
	History   Reference = "history"    // the points before
)

// Verdict of a check.
type Verdict string

const (
	OK            Verdict = "ok"
	Regression    Verdict = "regression"
	Improvement   Verdict = "improvement" // that the budget does not have yet
	TargetReached Verdict = "target reached"
	Failed        Verdict = "failed" // the benchmark did not run to its end
)

// Check is a metric of a benchmark. One that failed to run has a single check,
// without a metric.
type Check struct {
	Benchmark string `json:"benchmark"`
	Metric    string `json:"metric"`
	Class     Class  `json:"class"`
	// Was is the figure of Reference, Now that of the runs: where runs differ,
	// the middle one. Nil where it is not known.
	Was  *float64 `json:"was"`
	Now  *float64 `json:"now"`
	Unit string   `json:"unit"` // "", "bytes", "s", or what one is divided by: "bytes/request"
	// Reference is the one that fired; where none did, the one that Was is of.
	Reference Reference `json:"reference"`
	Verdict   Verdict   `json:"verdict"`
	Message   string    `json:"message"` // one sentence
	Sites     []Site    `json:"sites"`   // what made it grow, the most first
}

// Site is a line of code that allocates more than it did, or larger blocks.
type Site struct {
	Function string `json:"function"`
	File     string `json:"file"` // "" and 0 where it is not known
	Line     int    `json:"line"`
	Module   string `json:"module"`
	// Was and Now are what the check's metric has of it: calls or bytes.
	Was     uint64       `json:"was"`
	Now     uint64       `json:"now"`
	Status  string       `json:"status"`  // new, more, bigger
	Callers []Frame      `json:"callers"` // outwards, as far as they tell who makes the change
	Changed []LineChange `json:"changed"` // what git knows to have changed near it, and near its callers
}

// Frame is a place in the code.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Module   string `json:"module"`
}

// LineChange is a line that was added or removed since the reference.
type LineChange struct {
	File string `json:"file"` // in the repository
	Line int    `json:"line"` // as it is now; of a removed line, that before which it stood
	Old  string `json:"old"`  // text before, "" of an added line
	New  string `json:"new"`  // text now, "" of a removed line
}
