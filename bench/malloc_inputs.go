package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
)

// writeLines writes lines of one to eight words, to be sorted.
func writeLines(path string, count int) error {
	random := rand.New(rand.NewSource(11))
	return writeInput(path, func(to io.Writer) error {
		for range count {
			for range 1 + random.Intn(8) {
				fmt.Fprintf(to, "%x ", random.Int63n(1<<(4+random.Intn(36))))
			}
			if _, err := fmt.Fprintln(to); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeJSON writes an array of documents with numbers, strings, arrays and objects in them.
func writeJSON(path string, count int) error {
	type document struct {
		ID       int            `json:"id"`
		Name     string         `json:"name"`
		Tags     []string       `json:"tags"`
		Position [3]float64     `json:"position"`
		Counts   map[string]int `json:"counts"`
	}
	random := rand.New(rand.NewSource(12))
	documents := make([]document, count)
	for i := range documents {
		documents[i] = document{ID: i, Name: fmt.Sprintf("user %x", random.Int63()),
			Tags:     []string{fmt.Sprintf("t%d", random.Intn(500)), fmt.Sprintf("u%d", i%7), fmt.Sprintf("v%d", i%11)},
			Position: [3]float64{random.Float64(), random.Float64(), random.NormFloat64()},
			Counts:   map[string]int{"a": random.Intn(100), "b": random.Intn(100), fmt.Sprintf("c%d", i%50): i}}
	}
	return writeInput(path, func(to io.Writer) error { return json.NewEncoder(to).Encode(documents) })
}

func writeInput(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	buffered := bufio.NewWriter(file)
	if err := write(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return file.Close()
}
