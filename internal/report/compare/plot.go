package compare

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"

	"mallow/internal/compare"
	"mallow/internal/figure"
	"mallow/internal/stat"
	"mallow/internal/term"
)

// Sizes of the plot in pixels.
const (
	plotWidth  = 860
	nameWidth  = 280
	rowHeight  = 54
	headHeight = 64
	footHeight = 58
	margin     = 24
)

// plot is a picture under way.
type plot struct {
	bytes.Buffer
	least, most float64 // of the axis, in seconds
}

// WritePlot draws every run as a dot, one line a side, over an axis of CPU
// time, with the median and its interval. The figures lie in the file too, as
// the JSON of the comparison.
func WritePlot(w io.Writer, r *compare.Result) error {
	p := &plot{least: math.Inf(1), most: math.Inf(-1)}
	var rows []*compare.Row
	for _, row := range r.Rows {
		if len(row.Runs) == 0 {
			continue
		}
		rows = append(rows, row)
		for i := range row.Runs {
			p.least = min(p.least, compare.CPU(&row.Runs[i]))
			p.most = max(p.most, compare.CPU(&row.Runs[i]))
		}
	}
	height := headHeight + len(rows)*rowHeight + footHeight
	p.draw(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="13">`, plotWidth, height)
	p.draw(`<style>text{fill:#222}.dim{fill:#666;font-size:12px}.grid{stroke:#ddd}.run{fill:#3b6ea5;fill-opacity:.45}.faster .run{fill:#2a7f62}.slower .run{fill:#b0553a}` +
		`.median{stroke:#222;stroke-width:2}.interval{stroke:#222;stroke-width:6;stroke-opacity:.25}.page{fill:#fff}` +
		`@media(prefers-color-scheme:dark){text{fill:#ddd}.dim{fill:#999}.grid{stroke:#444}.median,.interval{stroke:#eee}.page{fill:#1b1b1b}}</style>`)
	p.draw(`<title>%s</title>`, safe("CPU time of "+r.Command))
	if err := p.data(r); err != nil {
		return err
	}
	p.draw(`<rect class="page" width="%d" height="%d"/>`, plotWidth, height)
	p.draw(`<text x="%d" y="26" font-size="15">%s</text>`, margin, safe("CPU time of "+clipped(r.Command)))
	p.draw(`<text class="dim" x="%d" y="46">%s</text>`, margin,
		safe(fmt.Sprintf("a dot is a run, later rounds lie lower; the bar is the median with its 95 %% interval; %s", figure.Counted(uint64(r.Rounds), "round", "rounds"))))
	p.axis(headHeight, headHeight+len(rows)*rowHeight)
	for i, row := range rows {
		p.row(row, headHeight+i*rowHeight)
	}
	p.draw(`</svg>`)
	_, err := w.Write(p.Bytes())
	return err
}

func (p *plot) draw(format string, arguments ...any) { fmt.Fprintf(p, format+"\n", arguments...) }

// data puts what the plot is drawn from into the file.
func (p *plot) data(r *compare.Result) error {
	content, err := json.Marshal(newDocument(r))
	if err != nil {
		return err
	}
	p.draw(`<metadata>%s</metadata>`, escaped(string(content)))
	return nil
}

// x is where a time lies.
func (p *plot) x(s float64) float64 {
	wide := float64(plotWidth - nameWidth - 2*margin)
	if p.most <= p.least {
		return nameWidth + margin + wide/2
	}
	return nameWidth + margin + wide*(s-p.least)/(p.most-p.least)
}

func (p *plot) axis(top, bottom int) {
	step := stepOf(p.most - p.least)
	if step <= 0 {
		return
	}
	for tick := math.Ceil(p.least/step) * step; tick <= p.most+step/1e6; tick += step {
		p.draw(`<path class="grid" d="M%.1f %dV%d"/>`, p.x(tick), top, bottom)
		p.draw(`<text class="dim" text-anchor="middle" x="%.1f" y="%d">%s</text>`, p.x(tick), bottom+20, tickName(tick, step))
	}
}

// stepOf divides a span into about five round steps.
func stepOf(span float64) float64 {
	if !(span > 0) {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(span/5)))
	for _, round := range []float64{1, 2, 5} {
		if span/(round*power) <= 6 {
			return round * power
		}
	}
	return 10 * power
}

// tickName writes a time as finely as the steps are.
func tickName(s, step float64) string {
	unit, factor := "s", 1.0
	if math.Abs(s) < 1 {
		unit, factor = "ms", 1e3
	}
	places := max(0, int(math.Ceil(-math.Log10(step*factor)-1e-9)))
	return fmt.Sprintf("%.*f %s", places, s*factor, unit)
}

func (p *plot) row(row *compare.Row, top int) {
	class, verdict := "base", ""
	if row.Ratios != nil {
		v := row.Ratios.CPU.Verdict()
		verdict = fmt.Sprintf("%s times: %s", times(row.Ratios.CPU.Value, row.Ratios.CPU.High-row.Ratios.CPU.Low), v)
		if v != stat.NoDifference {
			class = string(v)
		}
	}
	middle := float64(top) + rowHeight/2
	p.draw(`<g class="%s">`, class)
	p.draw(`<text x="%d" y="%.1f">%s</text>`, margin, middle-2, safe(shortened(row.Name, 32)))
	summary := stat.Summarize(row.Series(compare.CPU))
	p.draw(`<text class="dim" x="%d" y="%.1f">%s</text>`, margin, middle+15, safe(seconds(summary.Median)+separated(verdict)))
	if summary.Bounded() {
		p.draw(`<path class="interval" d="M%.1f %.1fH%.1f"/>`, p.x(summary.Low), middle, p.x(summary.High))
	}
	for i := range row.Runs {
		m := &row.Runs[i]
		// Rounds lie below each other, so that a drift shows.
		y := middle - 15 + 30*float64(m.Round-1)/float64(max(1, len(row.Runs)-1))
		p.draw(`<circle class="run" cx="%.1f" cy="%.1f" r="3"><title>%s</title></circle>`, p.x(compare.CPU(m)), y,
			safe(fmt.Sprintf("round %d: %s", m.Round, seconds(compare.CPU(m)))))
	}
	p.draw(`<path class="median" d="M%.1f %.1fV%.1f"/>`, p.x(summary.Median), middle-19, middle+19)
	p.draw(`</g>`)
}

func separated(verdict string) string {
	if verdict == "" {
		return ""
	}
	return ", " + verdict
}

func shortened(name string, most int) string {
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}

// safe is text for people in XML.
func safe(text string) string { return escaped(term.Safe(text)) }

func escaped(text string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(text)) // a Buffer takes everything
	return b.String()
}
