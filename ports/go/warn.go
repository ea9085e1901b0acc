package fovea

import (
	"fmt"
	"log"
	"strings"
)

// warn reports a thing that a call leaves out or ignores.
func (m *Model) warn(format string, given ...any) {
	text := m.Name + ": " + fmt.Sprintf(format, given...)
	if m.Warn != nil {
		m.Warn(text)
		return
	}
	log.Print("fovea: " + text)
}

// announce reports what a call has chosen for its caller, once for each model.
func (m *Model) announce(text string) {
	m.mutex.Lock()
	known := m.announced[text]
	if m.announced == nil {
		m.announced = map[string]bool{}
	}
	m.announced[text] = true
	m.mutex.Unlock()
	if !known {
		m.warn("%s", text)
	}
}

// matching returns the first encoding that holds what `is` asks for, or -1, and how many do.
func matching(encodings []*Encoding, is func(*Encoding) bool) (first, count int) {
	first = -1
	for i, one := range encodings {
		if is(one) {
			if count == 0 {
				first = i
			}
			count++
		}
	}
	return first, count
}

// warnTruncated reports texts that are longer than the model reads, in one line.
func (m *Model) warnTruncated(encodings []*Encoding) {
	first, count := matching(encodings, func(one *Encoding) bool { return one.Dropped != 0 || one.DroppedSentences != 0 })
	if count == 0 {
		return
	}
	one, others, sentences := encodings[first], "", ""
	if count > 1 {
		others = fmt.Sprintf("; so are %d more of %d texts", count-1, len(encodings))
	}
	if one.DroppedSentences > 0 {
		sentences = fmt.Sprintf("%d sentences and ", one.DroppedSentences)
	}
	m.warn("texts[%d] is longer than the model reads: left out are %s%d tokens%s", first, sentences, one.Dropped, others)
}

// warnSpelled reports texts that spell special tokens, in one line.
func (m *Model) warnSpelled(encodings []*Encoding) {
	first, count := matching(encodings, func(one *Encoding) bool { return one.Spelled != 0 })
	if count == 0 {
		return
	}
	others := ""
	if count > 1 {
		others = fmt.Sprintf("; so do %d more of %d texts", count-1, len(encodings))
	}
	m.warn("texts[%d] spells special tokens, which are read as such%s; Literal reads them as text", first, others)
}

// idle returns what is given and has no effect: it is about tokens that are drawn.
func (s Sampling) idle() []string {
	var found []string
	for _, one := range []struct {
		name  string
		given bool
	}{{"TopK", s.TopK != 0}, {"TopP", s.TopP != 0}, {"MinP", s.MinP != 0}, {"Seed", s.Seed != 0}} {
		if s.Temperature == 0 && one.given {
			found = append(found, one.name)
		}
	}
	return found
}

func (e End) String() string {
	names := []string{"NotEnded", "StopToken", "StopString", "MaxTokens", "Room"}
	if e < 0 || int(e) >= len(names) {
		return fmt.Sprintf("End(%d)", int(e))
	}
	return names[e]
}

// String is the model in a line.
func (m *Model) String() string {
	var programs []string
	for _, one := range m.Programs {
		programs = append(programs, one.Name)
	}
	return fmt.Sprintf("fovea.Model %s: programs %s, %s", m.Name, strings.Join(programs, ", "), m.Backend)
}
