package main

import (
	"fmt"
	"html"
	"strings"
)

// svg is a picture in the making. Coordinates are in pixels from the upper left corner.
type svg struct{ body strings.Builder }

type anchor string

const (
	atStart  anchor = "start"
	atMiddle anchor = "middle"
	atEnd    anchor = "end"
)

func (s *svg) line(x1, y1, x2, y2 float64, style string) {
	fmt.Fprintf(&s.body, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style)
}

func (s *svg) polyline(xs, ys []float64, style string) {
	points := make([]string, len(xs))
	for i := range xs {
		points[i] = fmt.Sprintf("%.1f,%.1f", xs[i], ys[i])
	}
	fmt.Fprintf(&s.body, "<polyline points=\"%s\" fill=\"none\" %s/>\n", strings.Join(points, " "), style)
}

func (s *svg) circle(x, y, radius float64, style string) {
	fmt.Fprintf(&s.body, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" %s/>\n", x, y, radius, style)
}

func (s *svg) text(x, y float64, at anchor, size int, text string) {
	fmt.Fprintf(&s.body, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\">%s</text>\n", x, y, at, size, html.EscapeString(text))
}

// upright is text along a vertical axis, read from below.
func (s *svg) upright(x, y float64, size int, text string) {
	fmt.Fprintf(&s.body, "<text transform=\"translate(%.1f,%.1f) rotate(-90)\" text-anchor=\"middle\" font-size=\"%d\">%s</text>\n",
		x, y, size, html.EscapeString(text))
}

func (s *svg) document(width, height float64) string {
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "+
		"font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" fill=\"#222\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n%s</svg>\n",
		width, height, width, height, s.body.String())
}
