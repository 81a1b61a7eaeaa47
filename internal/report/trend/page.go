package trend

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"path"
	"strconv"
	"strings"
	"sync"

	"mallow/internal/diff"
	"mallow/internal/figure"
	"mallow/internal/history"
	"mallow/internal/profile"
	"mallow/internal/term"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// PageOptions are those of WritePage.
type PageOptions struct {
	Title string
	Notes []string
	// Cause tells what made a step.
	Cause func(*history.Series, *history.Step) (*history.Cause, error)
}

// WritePage writes one file that needs no other: all series, their steps, and
// the stacks behind each. Its Content-Security-Policy allows its own style and
// script by hash and nothing else. Nothing is written when a cause cannot be
// read.
func WritePage(w io.Writer, series []*history.Series, o PageOptions) error {
	p := &page{
		Title: clean(o.Title), Width: chartWidth, Height: chartHeight,
		Policy: policy(), Style: template.CSS(pageStyle), Script: template.JS(pageScript), Steps: []*pageStep{},
	}
	for _, note := range o.Notes {
		p.Notes = append(p.Notes, clean(note))
	}
	made := make(map[*history.Step]*pageStep)
	var readouts [][]string
	first, last := "", ""
	count := 0
	for _, group := range byKey(series) {
		g := pageGroup{Benchmark: clean(group[0].Benchmark), Around: clean(surroundings(group[0].Key))}
		for _, s := range group {
			shown, err := p.series(s, o, made)
			if err != nil {
				return err
			}
			shown.Index = len(readouts)
			readouts = append(readouts, shown.readouts)
			g.Series = append(g.Series, shown)
			count++
			for _, point := range s.Points {
				if d := day(point); d != "-" {
					if first == "" || d < first {
						first = d
					}
					last = max(last, d)
				}
			}
		}
		p.Groups = append(p.Groups, g)
	}
	for _, s := range stepsOf(series) {
		p.Steps = append(p.Steps, made[s.Step])
	}
	p.Subtitle = fmt.Sprintf("%s in %s", figure.Counted(uint64(count), "series", "series"), figure.Counted(uint64(len(p.Groups)), "benchmark", "benchmarks"))
	if first != "" {
		p.Subtitle += fmt.Sprintf(", %s to %s", first, last)
	}
	text, err := json.Marshal(readouts) // with < and > as escapes
	if err != nil {
		return err
	}
	p.Points = template.JS(text)
	var b bytes.Buffer
	if err := parsed().Execute(&b, p); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

var parsed = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

func policy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(pageScript) + "; style-src " + hash(pageStyle) + "; base-uri 'none'; form-action 'none'"
}

// page is what the template is filled with. All names in it are clean.
type page struct {
	Title, Subtitle, Policy string
	Notes                   []string
	Style                   template.CSS
	Script, Points          template.JS
	Width, Height           int
	Steps                   []*pageStep
	Groups                  []pageGroup

	stepCount int
}

type pageGroup struct {
	Benchmark, Around string
	Series            []*pageSeries
}

type pageSeries struct {
	Index                     int
	Metric, Now, About, Text  string
	Spoken, Path, Least, Most string
	Dirty                     bool
	Levels                    []pageLevel
	Marks                     []pageMark
	Steps                     []*pageStep
	readouts                  []string // of each point
}

type pageLevel struct{ X1, X2, Y string }

type pageMark struct{ ID, X, Way, Title string }

type pageStep struct {
	ID, Day, Commit, Benchmark, Metric, Was, Is, Change, Way, Sure, Rest, Text string
	Sites                                                                      []pageSite
}

// First is the site that changed most; nil where none is known.
func (s *pageStep) First() *pageSite {
	if len(s.Sites) == 0 {
		return nil
	}
	return &s.Sites[0]
}

// IDOf is where a site is told of.
func (p *page) IDOf(s *pageSite) string { return s.step }

type pageSite struct {
	Was, Is, Status, Way, Function, Place, StacksTitle string
	Stacks                                             []pageStack
	Open                                               bool // its stacks are shown at once
	step                                               string
}

type pageStack struct {
	Was, Is, Way string
	Frames       []pageFrame
}

type pageFrame struct{ Function, Place string }

// clean makes a name one line that shows what it is.
func clean(s string) string {
	const longest = 2000
	if len(s) > longest {
		s = s[:longest] + " and so on"
	}
	return term.Safe(s)
}

const (
	chartWidth, chartHeight = 600, 96
	chartMargin             = 14 // above and below the course
)

func (p *page) series(s *history.Series, o PageOptions, made map[*history.Step]*pageStep) (*pageSeries, error) {
	last := s.Points[len(s.Points)-1]
	shown := &pageSeries{Metric: clean(s.Metric), Now: clean(write(s.Value(last), s.Unit)), Dirty: last.Dirty}
	least, most := math.Inf(1), math.Inf(-1)
	for _, point := range s.Points {
		v := s.Value(point)
		least, most = min(least, v), max(most, v)
		readout := fmt.Sprintf("%s   %s   %s", clean(exactly(v, s.Unit)), clean(short(point.Commit)), day(point))
		if point.Dirty {
			readout += "   with changes"
		}
		shown.readouts = append(shown.readouts, readout)
	}
	low, high := both(least, most, s.Unit)
	shown.Least, shown.Most = clean(low), clean(high)
	if least == most {
		shown.Most = ""
	}
	shown.About = figure.Counted(uint64(len(s.Points)), "point", "points")
	if class := s.Class(); class != "" {
		shown.About += ", " + class
	}
	shown.Spoken = fmt.Sprintf("%s of %s: %s, from %s to %s, now %s", shown.Metric, clean(s.Benchmark), shown.About, clean(low), clean(high), shown.Now)
	c := chart{least, most, len(s.Points)}
	shown.Path = c.path(s)
	shown.Text = s.Benchmark + " " + s.Metric
	from := 0
	at := wholePoints(s)
	for i, step := range s.Steps {
		st, err := p.step(s, step, o)
		if err != nil {
			return nil, err
		}
		made[step] = st
		shown.Steps = append(shown.Steps, st)
		shown.Text += " " + st.Text
		shown.Marks = append(shown.Marks, pageMark{st.ID, c.x(at[step.Index]), st.Way, st.Change + " at " + st.Commit + ": show why"})
		shown.Levels = append(shown.Levels, pageLevel{c.x(from), c.x(at[step.Index-1]), c.y(step.Before.Mean)})
		from = at[step.Index]
		if i == len(s.Steps)-1 {
			shown.Levels = append(shown.Levels, pageLevel{c.x(from), c.x(len(s.Points) - 1), c.y(step.After.Mean)})
		}
	}
	shown.Text = clean(shown.Text)
	return shown, nil
}

// wholePoints are the indexes of those that steps count.
func wholePoints(s *history.Series) (at []int) {
	for i, p := range s.Points {
		if !p.Dirty {
			at = append(at, i)
		}
	}
	return at
}

// chart places points in a picture.
type chart struct {
	least, most float64
	points      int
}

func (c chart) x(i int) string {
	if c.points < 2 {
		return decimal(chartWidth / 2)
	}
	return decimal(float64(i) / float64(c.points-1) * chartWidth)
}

func (c chart) y(v float64) string {
	share := 0.5
	if c.most > c.least {
		share = (v/2 - c.least/2) / (c.most/2 - c.least/2)
	}
	return decimal(chartHeight - chartMargin - share*(chartHeight-2*chartMargin))
}

func decimal(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

func (c chart) path(s *history.Series) string {
	var b strings.Builder
	for i, p := range s.Points {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(c.x(i) + " " + c.y(s.Value(p)))
	}
	if len(s.Points) == 1 {
		b.WriteString("h0.1")
	}
	return b.String()
}

func (p *page) step(s *history.Series, step *history.Step, o PageOptions) (*pageStep, error) {
	was, is := both(step.Before.Mean, step.After.Mean, s.Unit)
	p.stepCount++
	st := &pageStep{
		ID: "step-" + strconv.Itoa(p.stepCount), Day: day(step.At), Commit: clean(short(step.At.Commit)),
		Benchmark: clean(s.Benchmark), Metric: clean(s.Metric), Was: clean(was), Is: clean(is),
		Change: change(step.Before.Mean, step.After.Mean), Way: way(step.Before.Mean, step.After.Mean),
	}
	st.Sure = fmt.Sprintf("%s before, %s since.", figure.Counted(uint64(step.Before.N), "point", "points"), figure.Counted(uint64(step.After.N), "point", "points"))
	if step.Before.Deviation > 0 || step.After.Deviation > 0 {
		st.Sure += fmt.Sprintf(" Noise makes such a step with a probability of %.1g.", step.P)
	}
	st.Text = st.Benchmark + " " + st.Metric + " " + step.At.Commit
	if err := st.explain(s, step, o); err != nil {
		return nil, err
	}
	st.Text = clean(st.Text)
	return st, nil
}

func (st *pageStep) explain(s *history.Series, step *history.Step, o PageOptions) error {
	if o.Cause == nil {
		return nil
	}
	cause, err := o.Cause(s, step)
	if err != nil {
		return err
	}
	if cause.Old == nil || cause.New == nil {
		st.Rest = "No profile of both sides was kept: which stacks made it is not known."
		return nil
	}
	st.Sure += fmt.Sprintf(" Below are the stacks of %s against those of %s.", clean(short(cause.New.Commit)), clean(short(cause.Old.Commit)))
	for i := range cause.Sites {
		c := &cause.Sites[i]
		was, is := both(c.Was, c.Is, c.Unit)
		site := pageSite{
			Was: was, Is: is, Status: status(c), Way: way(c.Was, c.Is),
			Function: functionOf(&c.Frame), Place: placeOf(&c.Frame), Open: i == 0, step: st.ID,
			StacksTitle: figure.Counted(uint64(len(c.Stacks)+c.Hidden), "stack", "stacks"),
		}
		if c.Hidden > 0 {
			site.StacksTitle += fmt.Sprintf(", the %d that changed most", len(c.Stacks))
		}
		for _, stack := range c.Stacks {
			shown := pageStack{Was: figure.Count(stack.Old), Is: figure.Count(stack.New), Way: way(float64(stack.Old), float64(stack.New))}
			for k := range stack.Frames {
				shown.Frames = append(shown.Frames, pageFrame{functionOf(&stack.Frames[k]), placeOf(&stack.Frames[k])})
			}
			site.Stacks = append(site.Stacks, shown)
		}
		st.Sites = append(st.Sites, site)
		st.Text += " " + site.Function + " " + site.Place
	}
	switch {
	case len(cause.Sites) == 0:
		st.Rest = "No site allocates more or less than before."
	case cause.Others > 0:
		st.Rest = fmt.Sprintf("and %s that changed less", figure.Counted(uint64(cause.Others), "site", "sites"))
	}
	return nil
}

func way(was, is float64) string {
	switch {
	case is > was:
		return "more"
	case is < was:
		return "less"
	}
	return "same"
}

func status(c *history.CauseSite) string {
	if c.Status == diff.Changed || c.Status == diff.Same {
		return change(c.Was, c.Is)
	}
	return string(c.Status)
}

func functionOf(f *profile.Frame) string {
	if *f == (profile.Frame{}) {
		return "(unknown)"
	}
	return clean(f.Label())
}

func placeOf(f *profile.Frame) string {
	switch {
	case f.File != "" && f.Line > 0:
		return clean(fmt.Sprintf("%s:%d", f.File, f.Line))
	case f.File != "":
		return clean(f.File)
	case f.Module != "":
		return clean(path.Base(f.Module))
	}
	return ""
}
