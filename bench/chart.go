package main

import (
	"math"
	"slices"
	"strconv"
)

// chart is a panel of lines over two axes.
type chart struct {
	title string
	x, y  axis
	lines []line
}

type axis struct {
	label string
	base  float64              // of the logarithm, 0 for a linear axis, which begins at zero
	text  func(float64) string // of a tick
}

// line is one series of points, the x ascending.
type line struct {
	name   string
	stroke stroke
	xs, ys []float64
}

// stroke says how a line looks, so that two lines differ in more than colour.
type stroke struct {
	colour string
	dashes string // of SVG, empty for a solid line
	width  float64
}

func (s stroke) style() string {
	style := "stroke=\"" + s.colour + "\" stroke-width=\"" + number(s.width) + "\" stroke-linejoin=\"round\""
	if s.dashes != "" {
		style += " stroke-dasharray=\"" + s.dashes + "\""
	}
	return style
}

// number has no exponent and at most three decimals.
func number(value float64) string {
	return strconv.FormatFloat(math.Round(value*1000)/1000, 'f', -1, 64)
}

// panel is where a chart is drawn: the upper left corner and the size, labels included.
type panel struct{ left, top, width, height float64 }

const (
	marginLeft   = 62.0
	marginRight  = 14.0
	marginTop    = 26.0
	marginBottom = 44.0
	gridStyle    = `stroke="#ddd" stroke-width="1"`
	frameStyle   = `stroke="#888" stroke-width="1"`
)

// drawCharts draws charts in a grid, and below them the legend of their lines.
func drawCharts(title string, charts []chart, columns int, width, height float64) string {
	var s svg
	columns = min(columns, len(charts))
	s.text(float64(columns)*width/2, 22, atMiddle, 16, title)
	for i, one := range charts {
		one.draw(&s, panel{float64(i%columns) * width, 32 + float64(i/columns)*height, width, height})
	}
	rows := (len(charts) + columns - 1) / columns
	bottom := drawLegend(&s, charts, 40+float64(rows)*height, float64(columns)*width)
	return s.document(float64(columns)*width, bottom)
}

// drawLegend draws an entry for each name and returns where it ends.
func drawLegend(s *svg, charts []chart, top, width float64) float64 {
	const entry, height = 150.0, 20.0
	seen := map[string]bool{}
	x, y := marginLeft, top
	for _, c := range charts {
		for _, l := range c.lines {
			if seen[l.name] {
				continue
			}
			seen[l.name] = true
			if x+entry > width && x > marginLeft {
				x, y = marginLeft, y+height
			}
			s.line(x, y+8, x+32, y+8, l.stroke.style())
			s.text(x+38, y+12, atStart, 12, l.name)
			x += entry
		}
	}
	return y + height + 6
}

func (c chart) draw(s *svg, p panel) {
	left, right := p.left+marginLeft, p.left+p.width-marginRight
	top, bottom := p.top+marginTop, p.top+p.height-marginBottom
	s.text((left+right)/2, p.top+16, atMiddle, 13, c.title)
	xs, ys := c.extent()
	toX, toY := c.x.scale(xs, left, right), c.y.scale(ys, bottom, top)
	for _, tick := range c.x.ticks(xs) {
		s.line(toX(tick), top, toX(tick), bottom, gridStyle)
		s.text(toX(tick), bottom+15, atMiddle, 11, c.x.text(tick))
	}
	for _, tick := range c.y.ticks(ys) {
		s.line(left, toY(tick), right, toY(tick), gridStyle)
		s.text(left-5, toY(tick)+4, atEnd, 11, c.y.text(tick))
	}
	s.line(left, bottom, right, bottom, frameStyle)
	s.line(left, top, left, bottom, frameStyle)
	s.text((left+right)/2, bottom+33, atMiddle, 12, c.x.label)
	s.upright(p.left+15, (top+bottom)/2, 12, c.y.label)
	for _, l := range c.lines {
		drawnX, drawnY := make([]float64, len(l.xs)), make([]float64, len(l.ys))
		for i := range l.xs {
			drawnX[i], drawnY[i] = toX(l.xs[i]), toY(l.ys[i])
		}
		s.polyline(drawnX, drawnY, l.stroke.style())
	}
}

// span is the range of the values on an axis.
type span struct{ low, high float64 }

func (c chart) extent() (xs, ys span) {
	xs, ys = span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	for _, l := range c.lines {
		xs, ys = xs.over(l.xs), ys.over(l.ys)
	}
	if c.y.base != 0 {
		ys = span{ys.low / 1.25, ys.high * 1.25} // so that no line lies on the frame
	}
	return c.x.widen(xs), c.y.widen(ys)
}

func (r span) over(values []float64) span {
	for _, value := range values {
		r = span{min(r.low, value), max(r.high, value)}
	}
	return r
}

// widen makes a range that has some width; a linear axis begins at zero, a logarithmic one has no zero.
func (a axis) widen(r span) span {
	switch {
	case math.IsInf(r.low, 0):
		return span{1, 10}
	case a.base == 0:
		return span{0, max(r.high*1.05, 1e-9)}
	}
	r.low = max(r.low, 1e-9)
	return span{r.low, max(r.high, r.low*a.base)}
}

// scale maps values to pixels.
func (a axis) scale(r span, from, to float64) func(float64) float64 {
	of := func(value float64) float64 { return value }
	if a.base != 0 {
		of = func(value float64) float64 { return math.Log(max(value, r.low)) }
	}
	return func(value float64) float64 {
		return from + (to-from)*(of(value)-of(r.low))/(of(r.high)-of(r.low))
	}
}

// mostTicks is how many an axis has room for.
const mostTicks = 9

func (a axis) ticks(r span) []float64 {
	switch a.base {
	case 0:
		return linearTicks(r)
	case 10:
		return decimalTicks(r)
	}
	return powerTicks(r, a.base)
}

func linearTicks(r span) []float64 {
	step := math.Pow(10, math.Floor(math.Log10(r.high)))
	for _, part := range []float64{0.1, 0.2, 0.5, 1} {
		if r.high/(step*part) <= mostTicks {
			step *= part
			break
		}
	}
	var ticks []float64
	for i := 0; float64(i)*step <= r.high; i++ {
		ticks = append(ticks, float64(i)*step)
	}
	return ticks
}

// decimalTicks are 1, 2 and 5 of each decade, or the decades alone where those are too many.
func decimalTicks(r span) []float64 {
	var ticks []float64
	for decade := math.Floor(math.Log10(r.low)); decade <= math.Log10(r.high); decade++ {
		for _, digit := range []float64{1, 2, 5} {
			if tick := digit * math.Pow(10, decade); tick >= r.low*0.999 && tick <= r.high*1.001 {
				ticks = append(ticks, tick)
			}
		}
	}
	if len(ticks) <= mostTicks {
		return ticks
	}
	return slices.DeleteFunc(ticks, func(tick float64) bool {
		exponent := math.Log10(tick)
		return math.Abs(exponent-math.Round(exponent)) > 1e-6
	})
}

// powerTicks are powers of the base, every second, third... where they are too many.
func powerTicks(r span, base float64) []float64 {
	log := func(value float64) float64 { return math.Log(value) / math.Log(base) }
	first, last := math.Ceil(log(r.low)-1e-6), math.Floor(log(r.high)+1e-6)
	every := math.Ceil((last - first + 1) / mostTicks)
	var ticks []float64
	for power := first; power <= last; power += every {
		ticks = append(ticks, math.Pow(base, power))
	}
	return ticks
}
