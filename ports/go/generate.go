package fovea

// #include "bridge.h"
import "C"

import (
	"context"
	"io"
	"math"
	"runtime"
	"runtime/cgo"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

const (
	usualNewTokens = 512 // if neither the caller nor the model limits them
	promptRows     = 512 // prefill: most rows of a prompt per run
	mostLinks      = 256 // of the format
)

// Sampling says how tokens are chosen; zero: the token with the highest score. See include/fovea/generate.h.
type Sampling struct {
	Temperature, TopP, MinP            float32
	TopK                               int
	RepetitionPenalty, PresencePenalty float32
	Seed                               uint64
	Logprobs                           bool
}

// GenerateOptions are the options of a generation.
type GenerateOptions struct {
	MaxTokens int // The most tokens of a text; 0: the model's number, else 512.
	Workers   int
	Literal   bool // Special tokens that texts spell are text: see EncodeOptions.
	Sampling  Sampling
	StopIDs   []int32  // Tokens that end a text; nil: the model's; empty: none.
	Stop      []string // Strings that end a text, which are not part of it.

	// Allow restricts the next token of a text (a grammar, a list of words): it clears the bits of tokens that may not
	// follow, token t bit t % 32 of words[t / 32]. It must neither keep words nor call the generation. A panic in it is
	// the panic of Next.
	Allow func(text, step int, words []uint32)
}

// End is why a text ended.
type End int

// Ends of a text.
const (
	NotEnded   End = iota
	StopToken      // A stop token, which is not part of the text.
	StopString     // A stop string.
	MaxTokens      // It has the most tokens that were asked for.
	Room           // The model reads no longer texts.
)

// Step is one step: an entry for each text.
type Step struct {
	Index    int
	Tokens   []int32   // -1 for texts that ended in an earlier step.
	Parts    []string  // What the step adds to each text, in whole characters.
	Ends     []End     // Why texts have ended.
	Logprobs []float32 // If asked for.
}

type text struct {
	stream *stream
	stop   *stop
	tokens []int32
	text   strings.Builder
	end    End
}

// Generation is texts in the making.
type Generation struct {
	mutex          sync.Mutex // held during a call
	encode, decode *Session
	handle         *C.fovea_generator
	memory, prompt block
	allow          cgo.Handle // 0: there is none
	allowed        *allowed
	texts          []*text
	left           bool
}

// allowed is what C's callback reaches by its handle.
type allowed struct {
	function func(text, step int, words []uint32)
	panicked any
}

//export bridgeAllow
func bridgeAllow(handle C.uintptr_t, text, step, tokens C.uint32_t, words *C.uint32_t) {
	to := cgo.Handle(handle).Value().(*allowed)
	defer func() { // no panic passes C's frames
		if found := recover(); found != nil && to.panicked == nil {
			to.panicked = found
		}
	}()
	if to.panicked == nil {
		to.function(int(text), int(step), unsafe.Slice((*uint32)(unsafe.Pointer(words)), (int(tokens)+31)/32))
	}
}

func (m *Model) findOr(key, usual string) string {
	if value, ok := m.Find(key); ok {
		return value
	}
	return usual
}

func (m *Model) listedMost() int {
	most, _ := strconv.Atoi(m.findOr("generate.max_tokens", m.findOr("generate.most", "0")))
	return most
}

// keptLimits are limits of a decoder with a KV cache.
func (m *Model) keptLimits(space, texts, newTokens, context int) (limits, error) {
	if longest := int(m.Spaces[space].MaxSegmentRows); longest != 0 && longest < context {
		context = longest
	}
	if context > math.MaxUint32/texts {
		return nil, refuse(TooManyRows, "generate", "%d texts of %d tokens are too many", texts, context)
	}
	if most := max(promptRows, texts); newTokens > most {
		newTokens = most
	}
	found := limits{space: {max(texts, newTokens), 0}}
	if parent := m.Spaces[space].Parent; parent >= 0 {
		found[parent] = [2]int{texts, 0}
	}
	for i, other := range m.Spaces {
		if other.IsCached {
			found[i] = [2]int{texts * context, context}
		}
	}
	return found, nil
}

// generatePrograms returns the program that generates text and the one that it reads, nil if there is none.
func (m *Model) generatePrograms() (decode, encode *Program, err error) {
	core, err := m.use()
	if err != nil {
		return nil, nil, err
	}
	defer core.release()
	var record C.fovea_error
	var first, second C.uint32_t
	status := C.fovea_generate_find_programs(core.handle, &first, &second, &record)
	if err := failed(m.Name, status, &record); err != nil {
		return nil, nil, err
	}
	if second != C.FOVEA_NONE {
		encode = &m.Programs[second]
	}
	return &m.Programs[first], encode, nil
}

func (m *Model) linkedInputs(program *Program) ([]uint32, error) {
	core, err := m.use()
	if err != nil {
		return nil, err
	}
	defer core.release()
	inputs := make([]uint32, mostLinks)
	var count C.uint32_t
	var record C.fovea_error
	status := C.fovea_generate_get_linked(core.handle, C.uint32_t(program.index), (*C.uint32_t)(first(inputs)),
		mostLinks, &count, &record)
	if err := failed("generate", status, &record); err != nil {
		return nil, err
	}
	return inputs[:count], nil
}

// linkedLimits are limits of a decoder that reads what the encoder has written.
func (m *Model) linkedLimits(program *Program, encode *Session, read limits, linked []uint32, token, texts,
	most int) (limits, error) {
	found := limits{}
	for space, limit := range read {
		if !m.Spaces[space].IsCached {
			found[space] = limit
		}
	}
	for _, input := range linked {
		value := program.Values[input]
		output, ok := m.Find("generate.link." + value.Name)
		if _, has := found[value.Space]; has || !ok || !m.Spaces[value.Space].IsInput {
			continue
		}
		from, err := m.value(encode.program, output) // its space is read in a separate one
		if err != nil {
			return nil, err
		}
		offsets, err := encode.Segments(m.Spaces[encode.program.Values[from].Space].Name)
		if err != nil {
			return nil, err
		}
		longest := 1
		for i := 1; i < len(offsets); i++ {
			longest = max(longest, int(offsets[i]-offsets[i-1]))
		}
		found[value.Space] = [2]int{atLeast1(int(offsets[len(offsets)-1])), longest}
	}
	if _, has := found[token]; has {
		return found, nil // the decoder has no KV cache
	}
	kept, err := m.keptLimits(token, texts, texts, 1+most)
	for space, limit := range kept {
		if _, has := found[space]; !has {
			found[space] = limit
		}
	}
	return found, err
}

// promptsOf returns the prompts' tokens and the most tokens of a text with its prompt.
func (m *Model) promptsOf(space int, texts []string, literal bool) (prompts [][]int32, trained int, err error) {
	about, err := m.Tokenizer()
	if err != nil {
		return nil, 0, err
	}
	trained = math.MaxInt32
	for _, bound := range []int{int(m.Spaces[space].MaxSegmentRows), about.MaxLength} {
		if bound != 0 && bound < trained {
			trained = bound
		}
	}
	for _, text := range texts {
		encoding, err := m.Encode(text, EncodeOptions{Whole: true, Literal: literal})
		if err != nil {
			return nil, 0, err
		}
		if len(encoding.IDs) == 0 {
			return nil, 0, refuse(TooLong, m.Name, "a prompt is empty, and the tokenizer adds no token before a text")
		}
		if len(encoding.IDs) > trained {
			return nil, 0, refuse(TooLong, m.Name, "a prompt has %d tokens, texts have %d at most: give a shorter one",
				len(encoding.IDs), trained)
		}
		prompts = append(prompts, encoding.IDs)
	}
	return prompts, trained, nil
}

// Generate begins texts: a decoder's text for what the encoder reads or, without an encoder, continuations of the texts.
func (m *Model) Generate(ctx context.Context, texts []string, options GenerateOptions) (*Generation, error) {
	if len(texts) == 0 {
		return nil, refuse(BadOption, "generate", "no text is given")
	}
	if _, err := number32(options.MaxTokens, "max tokens"); err != nil {
		return nil, err
	}
	if idle := options.Sampling.idle(); idle != nil {
		m.warn("without a temperature above 0 the best token is taken; ignored: %s", strings.Join(idle, ", "))
	}
	g := &Generation{left: true}
	prompts, err := g.read(ctx, m, texts, options)
	if err == nil {
		err = g.start(m, prompts, len(texts), options)
	}
	if err != nil {
		g.free()
		return nil, err
	}
	runtime.SetFinalizer(g, (*Generation).Close)
	return g, nil
}

// read makes the sessions, and runs the encoder if there is one.
func (g *Generation) read(ctx context.Context, m *Model, texts []string, options GenerateOptions) ([][]int32, error) {
	program, encoder, err := m.generatePrograms()
	if err != nil {
		return nil, err
	}
	token, err := m.value(program, m.findOr("generate.token", "input_ids"))
	if err != nil {
		return nil, err
	}
	space, most := program.Values[token].Space, options.MaxTokens
	if most == 0 {
		most = m.listedMost()
	}
	if most == 0 {
		most = usualNewTokens
	}
	made := SessionOptions{Program: program.Name, Workers: options.Workers}
	var prompts [][]int32
	var fitting limits
	if encoder != nil {
		run := RunOptions{Program: encoder.Name, Workers: options.Workers, Literal: options.Literal}
		encodings, err := m.encodeFor(encoder, texts, run)
		if err != nil {
			return nil, err
		}
		var read limits
		if g.encode, read, err = m.run(ctx, encodings, run, nil, nil); err != nil {
			return nil, err
		}
		if made.linked, err = m.linkedInputs(program); err != nil {
			return nil, err
		}
		if fitting, err = m.linkedLimits(program, g.encode, read, made.linked, space, len(texts), most); err != nil {
			return nil, err
		}
	} else {
		var trained int
		if prompts, trained, err = m.promptsOf(space, texts, options.Literal); err != nil {
			return nil, err
		}
		longest, sum := 0, 0
		for _, prompt := range prompts {
			longest, sum = max(longest, len(prompt)), sum+len(prompt)
		}
		if longest+most < trained {
			trained = longest + most
		}
		if fitting, err = m.keptLimits(space, len(texts), sum, trained); err != nil {
			return nil, err
		}
	}
	made.Limits = m.listed(fitting)
	g.decode, err = m.Session(made)
	return prompts, err
}

func (g *Generation) start(m *Model, prompts [][]int32, count int, options GenerateOptions) error {
	var rules C.fovea_sampling
	rules.struct_size = C.size_t(unsafe.Sizeof(rules))
	given := options.Sampling
	topK, err := number32(given.TopK, "top k")
	if err != nil {
		return err
	}
	rules.temperature, rules.top_k, rules.top_p = C.float(given.Temperature), topK, C.float(given.TopP)
	rules.min_p, rules.seed = C.float(given.MinP), C.uint64_t(given.Seed)
	rules.repetition_penalty = C.float(given.RepetitionPenalty)
	rules.presence_penalty = C.float(given.PresencePenalty)
	if given.Logprobs {
		rules.logprobs = 1
	}
	if options.Allow != nil {
		g.allowed = &allowed{function: options.Allow}
		g.allow = cgo.NewHandle(g.allowed)
	}
	var encode *C.fovea_session
	if g.encode != nil {
		encode = g.encode.handle
	}
	var stops *C.int32_t
	if options.StopIDs != nil {
		stops = (*C.int32_t)(first(append(options.StopIDs[:len(options.StopIDs):len(options.StopIDs)], 0)))
	}
	var size C.uint64_t
	call := func(handle **C.fovea_generator) error {
		var record C.fovea_error
		status := C.bridge_generator(g.decode.handle, encode, C.uint32_t(options.MaxTokens), stops,
			C.uint32_t(len(options.StopIDs)), &rules, C.uintptr_t(g.allow), g.memory.at, &size, handle, &record)
		return failed("generate", status, &record)
	}
	if err := call(nil); err != nil {
		return err
	}
	if g.memory, err = allocate(uint64(size)); err != nil {
		return err
	}
	var handle *C.fovea_generator // C writes it
	if err := call(&handle); err != nil {
		return err
	}
	g.handle = handle
	var record C.fovea_error
	if err := failed("generate", C.fovea_generate_start(g.handle, &record), &record); err != nil {
		return err
	}
	if g.encode == nil {
		if err := g.setPrompts(prompts); err != nil {
			return err
		}
	}
	return g.begin(m, prompts, count, options.Stop)
}

// setPrompts copies the prompts to C memory, where the first step reads them.
func (g *Generation) setPrompts(prompts [][]int32) error {
	var ids []int32
	var lengths []int32
	for _, prompt := range prompts {
		ids, lengths = append(ids, prompt...), append(lengths, int32(len(prompt)))
	}
	var err error
	if g.prompt, err = allocate(4 * uint64(len(ids)+len(lengths))); err != nil {
		return err
	}
	copy(unsafe.Slice((*int32)(g.prompt.at), len(ids)+len(lengths)), append(ids, lengths...))
	var record C.fovea_error
	status := C.fovea_generate_set_prompts(g.handle, (*C.int32_t)(g.prompt.at),
		(*C.uint32_t)(unsafe.Add(g.prompt.at, 4*len(ids))), C.uint32_t(len(prompts)), 0, &record)
	return failed("prompts", status, &record)
}

func (g *Generation) begin(m *Model, prompts [][]int32, count int, stops []string) (err error) {
	vocabulary := 0
	if m.HasText {
		about, err := m.Tokenizer()
		if err != nil {
			return err
		}
		vocabulary = about.Vocabulary
	}
	for i := 0; i < count; i++ {
		one := &text{}
		g.texts = append(g.texts, one)
		var prompt []int32
		if i < len(prompts) {
			prompt = prompts[i]
		}
		if m.HasText {
			if one.stream, err = newStream(g.decode.core, vocabulary, prompt); err != nil {
				return err
			}
		}
		if len(stops) > 0 {
			if one.stop, err = newStop(stops); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *Generation) free() {
	g.handle = nil
	g.memory.free()
	g.prompt.free()
	for _, one := range g.texts {
		if one.stop != nil {
			one.stop.memory.free()
			one.stop = nil
		}
		one.stream = nil
	}
	if g.allow != 0 {
		g.allow.Delete()
		g.allow = 0
	}
	for _, session := range []*Session{g.decode, g.encode} {
		if session != nil {
			session.Close()
		}
	}
}

// Close frees the generation, after the step that another goroutine makes. Texts so far remain.
func (g *Generation) Close() error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.handle != nil {
		g.free()
		runtime.SetFinalizer(g, nil)
	}
	return nil
}

// Next makes one step; io.EOF when all texts have ended. When the context ends the step is cancelled; the next call
// repeats it.
func (g *Generation) Next(ctx context.Context) (*Step, error) {
	if !g.mutex.TryLock() {
		return nil, ErrBusy
	}
	defer g.mutex.Unlock()
	if g.handle == nil {
		return nil, ErrClosed
	}
	if !g.left {
		return nil, io.EOF
	}
	var made C.fovea_generated
	made.struct_size = C.size_t(unsafe.Sizeof(made))
	err := g.decode.cancelled(ctx, func() error {
		var record C.fovea_error
		return failed("generate", C.fovea_generate_next(g.handle, nil, &made, &record), &record)
	})
	if g.allowed != nil && g.allowed.panicked != nil {
		found := g.allowed.panicked
		g.allowed.panicked = nil
		panic(found)
	}
	if err != nil {
		return nil, err
	}
	count := int(made.texts)
	if count != len(g.texts) {
		return nil, refuse(Internal, "generate", "%d texts instead of %d", count, len(g.texts))
	}
	step := &Step{Index: int(made.step), Tokens: copied[int32](unsafe.Pointer(made.tokens), count)}
	if made.logprobs != nil {
		step.Logprobs = copied[float32](unsafe.Pointer(made.logprobs), count)
	}
	g.left = false
	for i, end := range copied[uint8](unsafe.Pointer(made.ends), count) {
		part, one := "", g.texts[i]
		if one.end != NotEnded {
			step.Tokens[i] = -1
		} else if step.Tokens[i] >= 0 {
			if part, err = g.add(one, step.Tokens[i], C.fovea_end(end)); err != nil {
				return nil, err
			}
		}
		if step.Tokens[i] >= 0 && one.end == Room {
			g.decode.model.warn("texts[%d] ends for lack of room after %d tokens: with its prompt it has all rows that its "+
				"session has; MaxTokens changes their number, up to what the model was trained for", i, len(one.tokens))
		}
		one.text.WriteString(part)
		step.Parts, step.Ends = append(step.Parts, part), append(step.Ends, one.end)
		g.left = g.left || one.end == NotEnded && made.left != 0
	}
	return step, nil
}

// add returns what a token adds to a text.
func (g *Generation) add(one *text, token int32, end C.fovea_end) (part string, err error) {
	ended, stops := end != C.FOVEA_END_NOT, end == C.FOVEA_END_STOP
	one.tokens = append(one.tokens, token)
	if one.stream != nil && !stops {
		if part, err = one.stream.add(token); err != nil {
			return "", err
		}
	}
	if one.stream != nil && ended {
		rest, err := one.stream.end()
		if err != nil {
			return "", err
		}
		part += rest
	}
	switch end {
	case C.FOVEA_END_STOP:
		one.end = StopToken
	case C.FOVEA_END_LIMIT:
		one.end = MaxTokens
	case C.FOVEA_END_FULL:
		one.end = Room
	}
	if one.stop != nil {
		found := false
		if part, found, err = one.stop.next(part); err != nil {
			return "", err
		}
		if found {
			one.end = StopString
		} else if ended {
			part, one.stop.held = part+one.stop.held, ""
		}
	}
	return part, nil
}

// Stream runs all remaining steps and passes what each adds to a text to `show`. An error of `show` ends it, and is
// returned.
func (g *Generation) Stream(ctx context.Context, show func(text int, part string) error) error {
	for {
		step, err := g.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i, part := range step.Parts {
			if part == "" {
				continue
			}
			if err := show(i, part); err != nil {
				return err
			}
		}
	}
}

// Texts returns the texts so far.
func (g *Generation) Texts() []string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	var texts []string
	for _, one := range g.texts {
		texts = append(texts, one.text.String())
	}
	return texts
}

// Ends returns why each text has ended.
func (g *Generation) Ends() []End {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	var ends []End
	for _, one := range g.texts {
		ends = append(ends, one.end)
	}
	return ends
}
