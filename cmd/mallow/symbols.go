package main

import (
	"errors"
	"fmt"
	"os"

	"mallow/internal/launch"
	"mallow/internal/recording"
	"mallow/internal/symbolize"
	"mallow/internal/symbolize/debuginfod"
	"mallow/internal/term"
)

// newSymbolizer names the addresses of recordings: by what they bring, with the
// user's cache, and with the debuginfod servers that the user named.
func newSymbolizer(recordings ...*recording.Recording) (*symbolize.Symbolizer, error) {
	o := symbolize.Options{Cache: symbolize.UserCache()}
	settings, ok := debuginfod.FromEnvironment()
	for _, one := range settings.Ignored {
		fmt.Fprintf(os.Stderr, "mallow: %s: %s is no %s\n", one.Name, launch.Quote(one.Text), one.Isnt)
	}
	if ok {
		o.Fetch = debuginfod.New(settings, func(text string) {
			fmt.Fprintf(os.Stderr, "mallow: %s\n", term.Safe(text))
		}).Find
	}
	s := symbolize.New(o)
	if err := useSymbols(s, recordings); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// useSymbols adds what recordings bring.
func useSymbols(s *symbolize.Symbolizer, recordings []*recording.Recording) error {
	for _, rec := range recordings {
		symbols, err := rec.Symbols()
		if err == nil && symbols != nil {
			err = s.UseSymbols(symbols)
		}
		switch {
		case errors.Is(err, symbolize.ErrNewerSymbols):
			return fmt.Errorf("%s: %s", term.Safe(rec.Path), term.Safe(err.Error()))
		case err != nil:
			rec.Warnings = append(rec.Warnings, "its symbols cannot be read: functions are named as far as their files are here")
		}
	}
	return nil
}

// symbolizerFor is newSymbolizer for a recording that is read again and again,
// and that need not be there yet.
func symbolizerFor(path string) (*symbolize.Symbolizer, error) {
	if rec, err := recording.Open(path); err == nil {
		return newSymbolizer(rec)
	}
	return newSymbolizer()
}
