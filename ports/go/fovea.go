// Package fovea runs converted attention models: it classifies, embeds and generates texts, and shows where a model
// looks.
//
//	model, err := fovea.Open("model.fovea")
//	defer model.Close()
//	classes, err := model.Classify(ctx, []string{"a text editor"}, fovea.RunOptions{})
//
// Models, sessions and generations own C memory. Close frees it; a finalizer does so if it is forgotten. Calls on
// something closed return ErrClosed. Nothing that a call returns refers to C memory. Any number of goroutines may use a
// Model; a Session or a Generation is for one at a time, and refuses the call of a second one.
package fovea

// #cgo pkg-config: fovea
// #include "bridge.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// Status is a code of the C library, FOVEA_E_...
type Status int32

// The classes of a status, and details that programs react to. Others are in fovea/status.h.
const (
	Argument    Status = C.FOVEA_E_ARGUMENT
	Order       Status = C.FOVEA_E_ORDER
	Blob        Status = C.FOVEA_E_BLOB
	Unsupported Status = C.FOVEA_E_UNSUPPORTED
	Memory      Status = C.FOVEA_E_MEMORY
	Limits      Status = C.FOVEA_E_LIMIT
	Input       Status = C.FOVEA_E_INPUT
	Cancelled   Status = C.FOVEA_E_CANCELLED
	Internal    Status = C.FOVEA_E_INTERNAL

	BadName     Status = C.FOVEA_E_NAME
	BadOption   Status = C.FOVEA_E_OPTION
	BadID       Status = C.FOVEA_E_ID
	BadUTF8     Status = C.FOVEA_E_UTF8
	TooLong     Status = C.FOVEA_E_LENGTH
	TooManyRows Status = C.FOVEA_E_ROWS
	TooMany     Status = C.FOVEA_E_SEGMENTS
	OutOfMemory Status = C.FOVEA_E_TOO_SMALL
	Capacity    Status = C.FOVEA_E_CAPACITY
	NoText      Status = C.FOVEA_E_SECTION
	Checksum    Status = C.FOVEA_E_CHECKSUM
)

// String is the name of the code: "FOVEA_E_ID".
func (s Status) String() string { return C.GoString(C.fovea_status_name(C.fovea_status(s))) }

// Kind is the class of the code, one of Argument to Internal.
func (s Status) Kind() Status { return s & 0xff }

// ErrClosed is the error of calls on something closed.
var ErrClosed = errors.New("fovea: it is closed")

// ErrBusy is the error of a call on a Session or Generation that another goroutine uses.
var ErrBusy = errors.New("fovea: another goroutine uses it: give each goroutine its own")

// Error is an error of the library.
type Error struct {
	Status   Status
	Doing    string // What failed.
	Text     string // The library's message.
	Expected uint64 // The required number.
	Found    uint64 // The number given instead.
	Index    uint64 // Position of the fault in an array or a text.
	cause    error
}

func (e *Error) Error() string {
	numbers := ""
	if e.Expected != 0 || e.Found != 0 {
		numbers = fmt.Sprintf(", expected %d, found %d", e.Expected, e.Found)
	}
	return fmt.Sprintf("%s: %s%s (%s)", e.Doing, e.Text, numbers, e.Status)
}

// Unwrap returns the error of the context that cancelled a call.
func (e *Error) Unwrap() error { return e.cause }

func refuse(status Status, doing, format string, values ...any) error {
	return &Error{Status: status, Doing: doing, Text: fmt.Sprintf(format, values...)}
}

// failed makes the error of a call; nil if it succeeded.
func failed(doing string, status C.fovea_status, record *C.fovea_error) error {
	if status == C.FOVEA_OK {
		return nil
	}
	failure := &Error{Status: Status(status), Doing: doing, Text: "failed"}
	if record != nil && record.text != nil {
		failure.Text = C.GoString(record.text)
		failure.Expected, failure.Found = uint64(record.expected), uint64(record.found)
		failure.Index = uint64(record.index)
	}
	return failure
}

// block is C memory with an alignment of 64.
type block struct {
	at, allocated unsafe.Pointer
	size          uint64
}

func allocate(size uint64) (block, error) {
	if size == 0 {
		return block{}, nil
	}
	made := block{size: size}
	made.at = C.bridge_allocate(C.uint64_t(size), &made.allocated)
	if made.at == nil {
		return block{}, refuse(OutOfMemory, "memory", "%d bytes are not available", size)
	}
	return made, nil
}

func (b *block) free() {
	C.bridge_free(b.allocated)
	*b = block{}
}

func (b *block) bytes() []byte { return unsafe.Slice((*byte)(b.at), b.size) }

// copied returns a copy of C's array.
func copied[T any](at unsafe.Pointer, count int) []T {
	if at == nil || count == 0 {
		return []T{}
	}
	return append([]T{}, unsafe.Slice((*T)(at), count)...)
}

// first is the address of a slice's elements, nil if there are none.
func first[T any](slice []T) unsafe.Pointer {
	if len(slice) == 0 {
		return nil
	}
	return unsafe.Pointer(&slice[0])
}

func bytesOf(text string) *C.char {
	if len(text) == 0 {
		return nil
	}
	return (*C.char)(unsafe.Pointer(&[]byte(text)[0])) // C reads it during the call
}

func number32(value int, what string) (C.uint32_t, error) {
	if value < 0 || uint64(value) > math.MaxUint32 {
		return 0, refuse(BadOption, what, "%d does not fit into 32 bits without a sign", value)
	}
	return C.uint32_t(value), nil
}

// Version returns the version of the linked library.
func Version() string { return C.GoString(C.fovea_version()) }

// SIMDTarget returns the SIMD target that kernels use on this machine.
func SIMDTarget() string { return C.GoString(C.fovea_simd_target()) }

// bridgeRun is the runner of sessions with several workers: a goroutine for each, and the caller's for the first.
//
//export bridgeRun
func bridgeRun(workers C.uint32_t, task, context unsafe.Pointer) {
	var group sync.WaitGroup
	for worker := C.uint32_t(1); worker < workers; worker++ {
		group.Add(1)
		go func(worker C.uint32_t) {
			defer group.Done()
			C.bridge_task(task, context, worker)
		}(worker)
	}
	if workers > 0 {
		C.bridge_task(task, context, 0)
	}
	group.Wait()
}
