package fovea

// #include "bridge.h"
import "C"

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Backend of matrix products.
type Backend uint32

// Backends: BackendDefault is XNNPACK where it is built in and able, else Highway.
const (
	BackendDefault Backend = C.FOVEA_BACKEND_DEFAULT
	BackendHighway Backend = C.FOVEA_BACKEND_HIGHWAY
	BackendXNNPACK Backend = C.FOVEA_BACKEND_XNNPACK
)

// ModelOptions says how a model is opened. Its structure is always checked.
type ModelOptions struct {
	Backend      Backend
	SkipChecksum bool
}

// Space is a row space: a ragged batch dimension. Segment i of a space is row i of its parent.
type Space struct {
	Name           string
	Parent         int    // -1: all rows are one segment.
	IsInput        bool   // The caller sets its segments.
	IsCached       bool   // Its rows are a KV cache.
	MaxSegmentRows uint32 // The longest segment that the model supports; 0: any.
}

// Type of the elements of a value.
type Type uint32

// Types that rows of inputs and outputs can have here.
const (
	F32 Type = C.FOVEA_TYPE_F32
	I32 Type = C.FOVEA_TYPE_I32
)

// Value is a matrix that a program reads, computes or writes.
type Value struct {
	Name                         string
	Space                        int
	Width                        int
	Type                         Type
	IsInput, IsOutput, IsCarried bool
	IDLimit                      uint32 // Ids must be below this; 0: the values are not ids.
}

// Operation is one operation of a program.
type Operation struct {
	Name, Op string
	Heads    int // For attention; else 0.
}

// Program is an entry point of a model.
type Program struct {
	Name       string
	Values     []Value
	Operations []Operation
	index      int
}

// Attentions returns the names of the operations whose attention can be kept.
func (p *Program) Attentions() []string {
	var names []string
	for _, one := range p.Operations {
		if one.Op == "attention" {
			names = append(names, one.Name)
		}
	}
	return names
}

// Metadata is an entry of a blob.
type Metadata struct{ Key, Value string }

// Model is a blob's model. Any number of goroutines may use it.
type Model struct {
	Name     string // The path, for messages.
	Spaces   []Space
	Programs []Program
	Metadata []Metadata
	HasText  bool
	Backend  string

	// Warn receives a line about what a call leaves out, ignores or chooses for its caller; nil: the standard logger.
	// Set it before other goroutines use the model.
	Warn func(text string)

	mutex     sync.Mutex
	announced map[string]bool
	core      *core // nil: closed
}

// core is what sessions keep of a model: it is freed with the last of them.
type core struct {
	handle       *C.fovea_model
	blob, memory block
	users        int32
}

func (c *core) release() {
	if atomic.AddInt32(&c.users, -1) == 0 {
		c.memory.free()
		c.blob.free()
	}
}

// Open reads a file into memory and checks it.
func Open(path string) (*Model, error) { return ModelOptions{}.Open(path) }

// New makes a model of a copy of a blob's bytes.
func New(blob []byte) (*Model, error) { return ModelOptions{}.New(blob) }

// Open reads a file into memory and checks it.
func (o ModelOptions) Open(path string) (*Model, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("fovea: %w", err)
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("fovea: %w", err)
	}
	blob, err := allocate(uint64(about.Size()))
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(file, blob.bytes()); err != nil && blob.size > 0 {
		blob.free()
		return nil, fmt.Errorf("fovea: %s: %w", path, err)
	}
	return o.make(blob, path)
}

// New makes a model of a copy of a blob's bytes.
func (o ModelOptions) New(bytes []byte) (*Model, error) {
	blob, err := allocate(uint64(len(bytes)))
	if err != nil {
		return nil, err
	}
	copy(blob.bytes(), bytes)
	return o.make(blob, "the blob")
}

func (o ModelOptions) make(blob block, name string) (made *Model, err error) {
	core := &core{blob: blob, users: 1}
	defer func() {
		if err != nil {
			core.release()
		}
	}()
	if version, declared := Version(), fmt.Sprintf("%d.%d.", C.FOVEA_VERSION_MAJOR, C.FOVEA_VERSION_MINOR); !strings.HasPrefix(
		version, declared) {
		return nil, refuse(Unsupported, "fovea", "the library found is %s, this package was built for %sx", version, declared)
	}
	var options C.fovea_model_options
	options.struct_size = C.size_t(unsafe.Sizeof(options))
	options.backend = C.uint32_t(o.Backend)
	if o.SkipChecksum {
		options.skip_checksum = 1
	}
	var needed C.uint64_t
	var record C.fovea_error
	size := C.uint64_t(blob.size)
	status := C.fovea_model_size(blob.at, size, &options, &needed, &record)
	if err := failed(name, status, &record); err != nil {
		return nil, err
	}
	if core.memory, err = allocate(uint64(needed)); err != nil {
		return nil, err
	}
	status = C.fovea_model_init(blob.at, size, &options, core.memory.at, needed, &core.handle, &record)
	if err := failed(name, status, &record); err != nil {
		return nil, err
	}
	model := &Model{Name: name, core: core}
	if err := model.read(); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(model, (*Model).Close)
	return model, nil
}

// read copies what the model consists of.
func (m *Model) read() error {
	var info C.fovea_model_info
	info.struct_size = C.size_t(unsafe.Sizeof(info))
	handle := m.core.handle
	if err := failed(m.Name, C.fovea_model_get_info(handle, &info), nil); err != nil {
		return err
	}
	m.HasText, m.Backend = info.has_text != 0, C.GoString(info.backend)
	for i := C.uint32_t(0); i < info.space_count; i++ {
		var space C.fovea_space_info
		space.struct_size = C.size_t(unsafe.Sizeof(space))
		if err := failed(m.Name, C.fovea_model_get_space(handle, i, &space), nil); err != nil {
			return err
		}
		parent, longest := int(space.parent), uint32(space.max_segment_rows)
		if space.parent == C.FOVEA_NONE {
			parent = -1
		}
		if longest == C.FOVEA_NONE {
			longest = 0
		}
		m.Spaces = append(m.Spaces, Space{C.GoString(space.name), parent, space.is_input != 0, space.is_cached != 0, longest})
	}
	for i := C.uint32_t(0); i < info.metadata_count; i++ {
		var key, value *C.char
		if err := failed(m.Name, C.fovea_model_get_metadata(handle, i, &key, &value), nil); err != nil {
			return err
		}
		m.Metadata = append(m.Metadata, Metadata{C.GoString(key), C.GoString(value)})
	}
	for i := C.uint32_t(0); i < info.program_count; i++ {
		if err := m.readProgram(i); err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) readProgram(index C.uint32_t) error {
	var info C.fovea_program_info
	info.struct_size = C.size_t(unsafe.Sizeof(info))
	handle := m.core.handle
	if err := failed(m.Name, C.fovea_model_get_program(handle, index, &info), nil); err != nil {
		return err
	}
	program := Program{Name: C.GoString(info.name), index: int(index)}
	for i := C.uint32_t(0); i < info.value_count; i++ {
		var value C.fovea_value_info
		value.struct_size = C.size_t(unsafe.Sizeof(value))
		if err := failed(m.Name, C.fovea_program_get_value(handle, index, i, &value), nil); err != nil {
			return err
		}
		program.Values = append(program.Values, Value{
			Name: C.GoString(value.name), Space: int(value.space), Width: int(value.width), Type: Type(value._type),
			IsInput: value.role == C.FOVEA_ROLE_INPUT, IsOutput: value.role == C.FOVEA_ROLE_OUTPUT,
			IsCarried: value.carried_by != C.FOVEA_NONE, IDLimit: uint32(value.id_limit),
		})
	}
	for i := C.uint32_t(0); i < info.step_count; i++ {
		var step C.fovea_step_info
		step.struct_size = C.size_t(unsafe.Sizeof(step))
		if err := failed(m.Name, C.fovea_program_get_step(handle, index, i, &step), nil); err != nil {
			return err
		}
		program.Operations = append(program.Operations,
			Operation{Name: C.GoString(step.name), Op: C.GoString(step.op), Heads: int(step.heads)})
	}
	m.Programs = append(m.Programs, program)
	return nil
}

// Close frees the model once its sessions are closed. Sessions that exist can still be used.
func (m *Model) Close() error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.core != nil {
		m.core.release()
		m.core = nil
		runtime.SetFinalizer(m, nil)
	}
	return nil
}

// use keeps the model's memory until its result is released.
func (m *Model) use() (*core, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.core == nil {
		return nil, ErrClosed
	}
	atomic.AddInt32(&m.core.users, 1)
	return m.core, nil
}

// Find returns the metadata of a key.
func (m *Model) Find(key string) (string, bool) {
	for _, entry := range m.Metadata {
		if entry.Key == key {
			return entry.Value, true
		}
	}
	return "", false
}

// Label returns the name of a class; "class N" if the blob has none.
func (m *Model) Label(index int) string {
	if label, ok := m.Find(fmt.Sprintf("label.%d", index)); ok {
		return label
	}
	return fmt.Sprintf("class %d", index)
}

// Program returns a program by its name; "": the first.
func (m *Model) Program(name string) (*Program, error) {
	var known []string
	for i := range m.Programs {
		if name == "" || m.Programs[i].Name == name {
			return &m.Programs[i], nil
		}
		known = append(known, m.Programs[i].Name)
	}
	return nil, refuse(BadName, m.Name, "no program '%s'; there are: %s", name, strings.Join(known, ", "))
}

func (m *Model) space(name string) (int, error) {
	var known []string
	for i, space := range m.Spaces {
		if space.Name == name {
			return i, nil
		}
		known = append(known, space.Name)
	}
	return 0, refuse(BadName, m.Name, "no space '%s'; there are: %s", name, strings.Join(known, ", "))
}

// named finds a name, or the name in metadata alias.NAME.
func (m *Model) named(program *Program, what, name string, count int, nameOf func(int) (string, bool)) (int, error) {
	alias, hasAlias := m.Find("alias." + name)
	var known []string
	for _, wanted := range []string{name, alias} {
		for i := 0; i < count && (wanted == name || hasAlias); i++ {
			if found, listed := nameOf(i); listed && found == wanted {
				return i, nil
			} else if listed && wanted == name {
				known = append(known, found)
			}
		}
	}
	return 0, refuse(BadName, m.Name, "program '%s' has no %s '%s'; there are: %s", program.Name, what, name,
		strings.Join(known, ", "))
}

func (m *Model) value(program *Program, name string) (int, error) {
	return m.named(program, "value", name, len(program.Values), func(i int) (string, bool) {
		return program.Values[i].Name, true
	})
}

func (m *Model) attention(program *Program, name string) (int, error) {
	return m.named(program, "attention", name, len(program.Operations), func(i int) (string, bool) {
		return program.Operations[i].Name, program.Operations[i].Op == "attention"
	})
}
