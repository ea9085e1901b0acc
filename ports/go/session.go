package fovea

// #include "bridge.h"
import "C"

import (
	"context"
	"runtime"
	"sort"
	"strings"
	"sync"
	"unsafe"
)

// Limit is the most rows of a space in any run.
type Limit struct {
	Space             string
	Rows, SegmentRows int // In all segments together, and in one; SegmentRows 0: as many as the model allows.
}

// Tap asks a session to keep the attention map of an operation.
type Tap struct {
	Operation string
	Sparse    bool   // Only the keys that a row sees.
	Reduce    Reduce // Whether heads are kept apart.
	Heads     []int  // Which heads, below 64; empty: all.
	LastRow   bool   // Only the last row of each segment.
	Scores    bool   // The scores before the softmax instead of attention weights.
}

// Reduce makes one head of all.
type Reduce uint32

// Kinds of Reduce.
const (
	EachHead   Reduce = C.FOVEA_REDUCE_NONE
	MeanOfAll  Reduce = C.FOVEA_REDUCE_MEAN
	LargestOne Reduce = C.FOVEA_REDUCE_MAX
)

// SessionOptions are the options of a session. Zero values mean: the model's first program, one worker, nothing kept.
type SessionOptions struct {
	Program     string
	Limits      []Limit
	Rows        int // The limit of every space with a parent that is not in Limits; 0: none.
	Workers     int // Goroutines that share the work, at most 64; 0: 1.
	TileRows    int
	CachedTexts int
	Keep        []string // Values to keep readable besides the outputs.
	Taps        []Tap
	linked      []uint32
}

// Session is a program of a model with memory for a limited number of rows.
type Session struct {
	model   *Model
	program *Program
	taps    []string

	mutex  sync.Mutex // held during a call
	handle *C.fovea_session
	core   *core
	blocks [3]block
}

// Matrix has rows of an output, one after the other.
type Matrix[T float32 | int32] struct {
	Rows, Width int
	Data        []T
}

// Row returns a row.
func (m Matrix[T]) Row(i int) []T { return m.Data[i*m.Width : (i+1)*m.Width] }

func (m *Model) indices(program *Program, names []string) ([]uint32, error) {
	var found []uint32
	for _, name := range names {
		i, err := m.value(program, name)
		if err != nil {
			return nil, err
		}
		found = append(found, uint32(i))
	}
	return found, nil
}

// tapNumbers are the eight numbers of a tap in bridge.h.
func (m *Model) tapNumbers(program *Program, tap Tap) ([]uint64, error) {
	step, err := m.attention(program, tap.Operation)
	if err != nil {
		return nil, err
	}
	var heads uint64
	for _, head := range tap.Heads {
		if head < 0 || head >= 64 || head >= program.Operations[step].Heads {
			return nil, refuse(BadOption, "tap of '"+tap.Operation+"'", "there is no head %d", head)
		}
		heads |= 1 << head
	}
	numbers := []uint64{uint64(step), C.FOVEA_TAP_DENSE, C.FOVEA_TAP_ROWS_ALL, 0, 0, uint64(tap.Reduce), heads,
		C.FOVEA_KEEP_ATTENTION}
	if tap.Sparse {
		numbers[1] = C.FOVEA_TAP_SPARSE
	}
	if tap.LastRow {
		numbers[2] = C.FOVEA_TAP_ROWS_LAST
	}
	if tap.Scores {
		numbers[7] = C.FOVEA_KEEP_SCORES
	}
	return numbers, nil
}

// Session makes a session.
func (m *Model) Session(options SessionOptions) (*Session, error) {
	core, err := m.use()
	if err != nil {
		return nil, err
	}
	s := &Session{model: m, core: core}
	if err := s.place(options); err != nil {
		s.free()
		return nil, err
	}
	runtime.SetFinalizer(s, (*Session).Close)
	return s, nil
}

func (s *Session) place(options SessionOptions) (err error) {
	m := s.model
	if s.program, err = m.Program(options.Program); err != nil {
		return err
	}
	var numbers [6]C.uint32_t
	for i, value := range []int{s.program.index, options.Workers, options.TileRows, options.CachedTexts} {
		if numbers[i], err = number32(value, "session"); err != nil {
			return err
		}
	}
	if options.Rows < 0 {
		return refuse(BadOption, "session", "%d rows", options.Rows)
	}
	given := C.bridge_options{program: numbers[0], workers: numbers[1], tile_rows: numbers[2],
		cached_texts: numbers[3], rows: C.uint64_t(options.Rows)}
	var limits []uint32
	for _, limit := range options.Limits {
		space, err := m.space(limit.Space)
		if err != nil {
			return err
		}
		rows, err := number32(limit.Rows, "limit of '"+limit.Space+"'")
		if err != nil {
			return err
		}
		longest, err := number32(limit.SegmentRows, "limit of '"+limit.Space+"'")
		if err != nil {
			return err
		}
		limits = append(limits, uint32(space), uint32(rows), uint32(longest))
	}
	keep, err := m.indices(s.program, options.Keep)
	if err != nil {
		return err
	}
	var taps []uint64
	for _, tap := range options.Taps {
		numbers, err := m.tapNumbers(s.program, tap)
		if err != nil {
			return err
		}
		taps = append(taps, numbers...)
		s.taps = append(s.taps, tap.Operation)
	}
	var memory C.fovea_session_memory
	memory.struct_size = C.size_t(unsafe.Sizeof(memory))
	call := func(session **C.fovea_session) error {
		var record C.fovea_error
		status := C.bridge_session(s.core.handle, &given, (*C.uint32_t)(first(limits)), C.uint32_t(len(limits)/3),
			(*C.uint32_t)(first(keep)), C.uint32_t(len(keep)), (*C.uint64_t)(first(taps)), C.uint32_t(len(taps)/8),
			(*C.uint32_t)(first(options.linked)), C.uint32_t(len(options.linked)), &memory, session, &record)
		return failed("session", status, &record)
	}
	if err := call(nil); err != nil {
		return err
	}
	for i, size := range []C.uint64_t{memory.fixed_size, memory.state_size, memory.scratch_size} {
		if s.blocks[i], err = allocate(uint64(size)); err != nil {
			return err
		}
	}
	memory.fixed, memory.state, memory.scratch = s.blocks[0].at, s.blocks[1].at, s.blocks[2].at
	var handle *C.fovea_session // C writes it: not a field beside Go's pointers
	if err := call(&handle); err != nil {
		return err
	}
	s.handle = handle
	return nil
}

func (s *Session) free() {
	s.handle = nil
	for i := range s.blocks {
		s.blocks[i].free()
	}
	s.core.release()
}

// Close frees the session's memory, after the call that another goroutine makes.
func (s *Session) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.handle != nil {
		s.free()
		runtime.SetFinalizer(s, nil)
	}
	return nil
}

// enter holds the session for a call.
func (s *Session) enter() error {
	if !s.mutex.TryLock() {
		return ErrBusy
	}
	if s.handle == nil {
		s.mutex.Unlock()
		return ErrClosed
	}
	return nil
}

// SetSegments sets the lengths of the segments of an input space.
func (s *Session) SetSegments(space string, lengths []uint32) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mutex.Unlock()
	index, err := s.model.space(space)
	if err != nil {
		return err
	}
	var record C.fovea_error
	lengths = append(lengths[:len(lengths):len(lengths)], 0) // an empty array also needs an address
	status := C.fovea_session_set_segments(s.handle, C.uint32_t(index), (*C.uint32_t)(first(lengths)),
		C.uint32_t(len(lengths)-1), &record)
	return failed("segments of '"+space+"'", status, &record)
}

// Bind makes encoded texts, or documents, the input of the next run.
func (s *Session) Bind(encodings []*Encoding) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mutex.Unlock()
	var tokens, sentences []uint64
	var ids, types []int32
	var lengths []uint32
	documents := false
	for _, one := range encodings {
		if one == nil || len(one.Types) != len(one.IDs) && one.Types != nil {
			return refuse(BadOption, "texts", "an encoding is nil, or has another number of types than ids")
		}
		tokens, sentences = append(tokens, uint64(len(one.IDs))), append(sentences, uint64(len(one.Sentences)))
		ids, lengths = append(ids, one.IDs...), append(lengths, one.Sentences...)
		types = append(types, one.Types...)
		if one.Types == nil {
			types = append(types, make([]int32, len(one.IDs))...)
		}
		documents = documents || one.Sentences != nil
	}
	parts := (*C.uint64_t)(first(sentences))
	if !documents {
		parts = nil
	}
	ids, types, lengths = append(ids, 0), append(types, 0), append(lengths, 0) // empty arrays also need addresses
	var record C.fovea_error
	status := C.bridge_bind(s.handle, C.uint32_t(len(encodings)), (*C.uint64_t)(first(tokens)),
		(*C.int32_t)(first(ids)), (*C.int32_t)(first(types)), parts, (*C.uint32_t)(first(lengths)), &record)
	return failed("texts", status, &record)
}

func write[T float32 | int32](s *Session, name string, wanted Type, rows []T) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mutex.Unlock()
	value, err := s.model.value(s.program, name)
	if err != nil {
		return err
	}
	var view C.fovea_view
	var record C.fovea_error
	status := C.fovea_session_get_input(s.handle, C.uint32_t(value), &view, &record)
	if err := failed("input '"+name+"'", status, &record); err != nil {
		return err
	}
	if Type(view._type) != wanted || len(rows) != int(view.rows)*int(view.width) {
		return refuse(BadOption, "input '"+name+"'", "%d numbers of type %d, and it has %d of type %d", len(rows), wanted,
			int(view.rows)*int(view.width), view._type)
	}
	if len(rows) > 0 {
		copy(unsafe.Slice((*T)(view.data), len(rows)), rows)
	}
	return nil
}

// WriteF32 writes an input of numbers, row by row. Segments must be set before.
func (s *Session) WriteF32(name string, rows []float32) error { return write(s, name, F32, rows) }

// WriteI32 writes an input of ids or marks, row by row. Segments must be set before.
func (s *Session) WriteI32(name string, rows []int32) error { return write(s, name, I32, rows) }

// Run runs the program. When the context ends the run is cancelled, and the session is ready for another run.
func (s *Session) Run(ctx context.Context) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mutex.Unlock()
	return s.cancelled(ctx, func() error {
		var record C.fovea_error
		return failed("program '"+s.program.Name+"'", C.fovea_session_run(s.handle, &record), &record)
	})
}

// cancelled makes a call that is cancelled when the context ends.
func (s *Session) cancelled(ctx context.Context, call func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if ctx.Done() == nil {
		return call()
	}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ctx.Done():
			C.fovea_session_cancel(s.handle)
		case <-done:
		}
	}()
	err := call()
	close(done)
	<-stopped
	C.fovea_session_clear_cancel(s.handle) // a request that came too late
	if failure, ok := err.(*Error); ok && failure.Status.Kind() == Cancelled {
		failure.cause = ctx.Err()
	}
	return err
}

func output[T float32 | int32](s *Session, name string, wanted Type) (Matrix[T], error) {
	if err := s.enter(); err != nil {
		return Matrix[T]{}, err
	}
	defer s.mutex.Unlock()
	value, err := s.model.value(s.program, name)
	if err != nil {
		return Matrix[T]{}, err
	}
	var view C.fovea_view
	var record C.fovea_error
	status := C.fovea_session_get_output(s.handle, C.uint32_t(value), &view, &record)
	if err := failed("output '"+name+"'", status, &record); err != nil {
		return Matrix[T]{}, err
	}
	if Type(view._type) != wanted {
		return Matrix[T]{}, refuse(BadOption, "output '"+name+"'", "its type is %d, not %d", view._type, wanted)
	}
	made := Matrix[T]{Rows: int(view.rows), Width: int(view.width)}
	made.Data = make([]T, 0, made.Rows*made.Width)
	for row := 0; row < made.Rows; row++ {
		at := unsafe.Add(view.data, row*int(view.row_bytes))
		made.Data = append(made.Data, unsafe.Slice((*T)(at), made.Width)...)
	}
	return made, nil
}

// Output returns a copy of an output or kept value of the last run.
func (s *Session) Output(name string) (Matrix[float32], error) { return output[float32](s, name, F32) }

// OutputI32 is Output for indices.
func (s *Session) OutputI32(name string) (Matrix[int32], error) { return output[int32](s, name, I32) }

func (s *Session) offsets(space int) ([]uint32, error) {
	var at *C.uint32_t
	var count C.uint32_t
	var record C.fovea_error
	status := C.fovea_session_get_segments(s.handle, C.uint32_t(space), &at, &count, &record)
	if err := failed("segments", status, &record); err != nil {
		return nil, err
	}
	return copied[uint32](unsafe.Pointer(at), int(count)+1), nil
}

// Segments returns the segments of a space: segment i is rows [offsets[i], offsets[i+1]).
func (s *Session) Segments(space string) ([]uint32, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	index, err := s.model.space(space)
	if err != nil {
		return nil, err
	}
	return s.offsets(index)
}

// AttentionMap is what a tap kept: lines of weights, one for each tapped row and head.
type AttentionMap struct {
	Operation    string
	Heads        int
	QueryRows    []uint32 // Tapped rows of the query space, through all segments.
	QueryOffsets []uint32
	KeyOffsets   []uint32
	Offsets      []uint64 // The first entry of line row*Heads+head, and the number of entries.
	Keys         []uint32 // The key of each entry, a row of the key space.
	Weights      []float32
}

// Segments returns the number of segments.
func (a *AttentionMap) Segments() int { return len(a.KeyOffsets) - 1 }

// Segment returns the weights of one segment and head: [tapped rows][keys], 0 where a row does not see a key; nil if
// there is no such segment or head.
func (a *AttentionMap) Segment(segment, head int) [][]float32 {
	if segment < 0 || segment >= a.Segments() || head < 0 || head >= a.Heads {
		return nil
	}
	begin, end := uint32(segment), uint32(segment+1) // each query row has a segment of keys
	if len(a.QueryOffsets) == len(a.KeyOffsets) {
		begin, end = a.QueryOffsets[segment], a.QueryOffsets[segment+1]
	}
	firstKey, keys := a.KeyOffsets[segment], a.KeyOffsets[segment+1]-a.KeyOffsets[segment]
	rows := [][]float32{}
	for i, row := range a.QueryRows {
		if row < begin || row >= end {
			continue
		}
		line, dense := i*a.Heads+head, make([]float32, keys)
		for entry := a.Offsets[line]; entry < a.Offsets[line+1]; entry++ {
			dense[a.Keys[entry]-firstKey] = a.Weights[entry]
		}
		rows = append(rows, dense)
	}
	return rows
}

// AttentionMap returns a copy of the map that the tap of an operation kept in the last run.
func (s *Session) AttentionMap(operation string) (*AttentionMap, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	tap := 0
	for tap < len(s.taps) && s.taps[tap] != operation {
		tap++
	}
	if tap == len(s.taps) {
		return nil, refuse(BadName, "tap", "none of '%s'; there are: %s", operation, strings.Join(s.taps, ", "))
	}
	var info C.fovea_attention_map
	info.struct_size = C.size_t(unsafe.Sizeof(info))
	var record C.fovea_error
	status := C.fovea_session_get_attention_map(s.handle, C.uint32_t(tap), &info, &record)
	if err := failed("tap of '"+operation+"'", status, &record); err != nil {
		return nil, err
	}
	made := &AttentionMap{Operation: operation, Heads: int(info.heads),
		QueryRows: copied[uint32](unsafe.Pointer(info.query_rows), int(info.rows))}
	var err error
	if made.QueryOffsets, err = s.offsets(int(info.query_space)); err != nil {
		return nil, err
	}
	if made.KeyOffsets, err = s.offsets(int(info.key_space)); err != nil {
		return nil, err
	}
	lines := int(info.rows) * int(info.heads)
	if info.form == C.FOVEA_TAP_DENSE {
		made.copyDense(unsafe.Slice((*float32)(unsafe.Pointer(info.data)), lines*int(info.stride)), int(info.stride))
		return made, nil
	}
	made.Offsets = make([]uint64, lines+1)
	made.Keys, made.Weights = make([]uint32, int(info.entries)+1), make([]float32, int(info.entries)+1)
	status = C.bridge_sparse_map(s.handle, C.uint32_t(tap), C.uint64_t(lines+1), (*C.uint64_t)(first(made.Offsets)),
		info.entries, (*C.uint32_t)(first(made.Keys)), (*C.float)(first(made.Weights)), &record)
	made.Keys, made.Weights = made.Keys[:info.entries], made.Weights[:info.entries]
	return made, failed("tap of '"+operation+"'", status, &record)
}

// copyDense copies lines without what is past the keys of a row's segment.
func (a *AttentionMap) copyDense(data []float32, stride int) {
	a.Offsets = []uint64{0}
	for i, row := range a.QueryRows {
		segment := int(row) // each query row has a segment of keys
		if len(a.QueryOffsets) == len(a.KeyOffsets) {
			segment = sort.Search(len(a.QueryOffsets), func(k int) bool { return a.QueryOffsets[k] > row }) - 1
		}
		begin, end := a.KeyOffsets[segment], a.KeyOffsets[segment+1]
		for head := 0; head < a.Heads; head++ {
			line := data[(i*a.Heads+head)*stride:]
			for key := begin; key < end; key++ {
				a.Keys, a.Weights = append(a.Keys, key), append(a.Weights, line[key-begin])
			}
			a.Offsets = append(a.Offsets, uint64(len(a.Keys)))
		}
	}
}

// TapsFile returns all maps of the last run as a safetensors file, which `fovea attend --from` shows.
func (s *Session) TapsFile() ([]byte, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	var size C.uint64_t
	var record C.fovea_error
	if err := failed("taps", C.fovea_taps_file_size(s.handle, &size, &record), &record); err != nil {
		return nil, err
	}
	file, err := allocate(uint64(size))
	if err != nil {
		return nil, err
	}
	defer file.free()
	if err := failed("taps", C.fovea_taps_file_write(s.handle, file.at, size, &record), &record); err != nil {
		return nil, err
	}
	return copied[byte](file.at, int(size)), nil
}
