package fovea

// #include "bridge.h"
import "C"

import (
	"strings"
	"unsafe"
)

// stream decodes a text incrementally.
type stream struct {
	model      *core
	vocabulary int
	state      C.fovea_text_stream
	rest       string // What the decoder held back at the end of the prompt: it belongs to the prompt.
}

// newStream begins a text that continues the tokens `after`, which are not shown.
func newStream(model *core, vocabulary int, after []int32) (*stream, error) {
	s := &stream{model: model, vocabulary: vocabulary}
	s.state.struct_size = C.size_t(unsafe.Sizeof(s.state))
	for _, token := range after {
		if _, err := s.add(token); err != nil {
			return nil, err
		}
	}
	if len(after) > 0 {
		held := s.state
		rest, err := s.end()
		if err != nil {
			return nil, err
		}
		s.state, s.rest = held, rest
	}
	return s, nil
}

func (s *stream) shown(text string) string {
	if s.rest == "" || text == "" {
		return text
	}
	text = strings.TrimPrefix(text, s.rest)
	s.rest = ""
	return text
}

// add returns the text that a token makes certain, in whole characters.
func (s *stream) add(token int32) (string, error) {
	if token < 0 || int(token) >= s.vocabulary {
		return "", nil // tables are often larger than vocabularies
	}
	id := C.int32_t(token)
	text, err := written(256, func(output *C.char, capacity C.uint64_t, size *C.uint64_t,
		record *C.fovea_error) C.fovea_status {
		return C.fovea_text_decode_next(s.model.handle, &s.state, &id, 1, output, capacity, size, record)
	})
	return s.shown(text), err
}

// end returns what was held back.
func (s *stream) end() (string, error) {
	text, err := written(256, func(output *C.char, capacity C.uint64_t, size *C.uint64_t,
		record *C.fovea_error) C.fovea_status {
		return C.fovea_text_decode_end(s.model.handle, &s.state, output, capacity, size, record)
	})
	return s.shown(text), err
}

// stop looks for stop strings in a text that grows.
type stop struct {
	handle *C.fovea_stop
	memory block
	held   string // The text's end, which is not shown yet.
	shown  uint64
}

func newStop(stops []string) (*stop, error) {
	var sizes []uint32
	for _, one := range stops {
		sizes = append(sizes, uint32(len(one)))
	}
	s, all := &stop{}, strings.Join(stops, "")+"\x00" // no string also needs an address
	var needed C.uint64_t
	call := func(handle **C.fovea_stop) error {
		var record C.fovea_error
		status := C.bridge_stop(bytesOf(all), (*C.uint32_t)(first(sizes)), C.uint32_t(len(sizes)), s.memory.at, &needed,
			handle, &record)
		return failed("stop", status, &record)
	}
	if err := call(nil); err != nil {
		return nil, err
	}
	var err error
	if s.memory, err = allocate(uint64(needed)); err != nil {
		return nil, err
	}
	var handle *C.fovea_stop
	if err := call(&handle); err != nil {
		s.memory.free()
		return nil, err
	}
	s.handle = handle
	return s, nil
}

// next returns what may be shown after more text, and whether a string was found: then the text ends.
func (s *stop) next(text string) (string, bool, error) {
	s.held += text
	var stopped C.fovea_stopped
	stopped.struct_size = C.size_t(unsafe.Sizeof(stopped))
	var record C.fovea_error
	status := C.fovea_stop_next(s.handle, bytesOf(text+"\x00"), C.uint64_t(len(text)), &stopped, &record)
	if err := failed("stop", status, &record); err != nil {
		return "", false, err
	}
	safe := uint64(stopped.safe)
	if safe < s.shown || safe-s.shown > uint64(len(s.held)) {
		return "", false, refuse(Internal, "stop", "%d bytes are safe of %d", safe, s.shown+uint64(len(s.held)))
	}
	text, s.held = s.held[:safe-s.shown], s.held[safe-s.shown:]
	s.shown = safe
	return text, stopped.stopped != 0, nil
}
