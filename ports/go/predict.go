package fovea

// #include "bridge.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"
)

// RunOptions are the options of a run over texts.
type RunOptions struct {
	Program   string
	Workers   int  // Goroutines that share the work; 0: 1.
	MaxLength int  // Texts are truncated to this many tokens; 0: to the model's limit.
	Wrapped   bool // Documents: line ends are line wraps.
	Literal   bool // Special tokens that texts spell are text: see EncodeOptions.

	// Embed: the name of the model's prompt to put in front of each text; "": its default prompt, if it has one.
	Prompt   string
	NoPrompt bool // Embed: not even the default prompt.
}

// Class is a class of a text. Models of numbers (regression) have no probability.
type Class struct {
	Label          string
	Probability    float64
	HasProbability bool
	Logit          float32
	Index          int
}

type limits map[int][2]int // rows and rows of the longest segment, by space

func (m *Model) idsOf(program *Program) (int, error) {
	for i, value := range program.Values {
		if value.Name == "input_ids" && value.IsInput {
			return i, nil
		}
	}
	return 0, refuse(BadName, m.Name, "program '%s' has no input 'input_ids', so it reads no texts", program.Name)
}

// sentenceSpace is the space whose rows are the sentences of documents, if tokens nest in one; else -1.
func (m *Model) sentenceSpace(space int) int {
	parent := m.Spaces[space].Parent
	if parent >= 0 && m.Spaces[parent].IsInput && m.Spaces[parent].Parent >= 0 {
		return parent
	}
	return -1
}

// textLimit returns the space of a program's token ids, and the most of them that a text may have: `most` (0: no limit)
// or less, as the model has it.
func (m *Model) textLimit(program *Program, most int) (space, limit int, err error) {
	ids, err := m.idsOf(program)
	if err != nil {
		return 0, 0, err
	}
	about, err := m.Tokenizer()
	if err != nil {
		return 0, 0, err
	}
	space = program.Values[ids].Space
	for _, bound := range []int{int(m.Spaces[space].MaxSegmentRows), about.MaxLength} {
		if bound != 0 && (most == 0 || bound < most) {
			most = bound
		}
	}
	return space, most, nil
}

func (m *Model) encodeFor(program *Program, texts []string, options RunOptions) ([]*Encoding, error) {
	space, most, err := m.textLimit(program, options.MaxLength)
	if err != nil {
		return nil, err
	}
	var encodings []*Encoding
	for i, text := range texts {
		encode, given := m.Encode, EncodeOptions{MaxLength: most, Literal: options.Literal}
		if m.sentenceSpace(space) >= 0 {
			encode, given.Wrapped = m.EncodeDocument, options.Wrapped
		}
		encoding, err := encode(text, given)
		var failure *Error
		if errors.As(err, &failure) && failure.Status == BadUTF8 {
			failure.Doing = fmt.Sprintf("texts[%d], byte %d", i, failure.Index)
		}
		if err != nil {
			return nil, err
		}
		encodings = append(encodings, encoding)
	}
	m.warnTruncated(encodings)
	m.warnSpelled(encodings)
	return encodings, nil
}

func atLeast1(number int) int {
	if number < 1 {
		return 1
	}
	return number
}

// limitsOf are limits that fit exactly these encodings.
func (m *Model) limitsOf(space int, encodings []*Encoding) limits {
	sum, longest, sentences, most := 0, 1, 0, 1
	nested := m.sentenceSpace(space) >= 0
	for _, one := range encodings {
		lengths := []uint32{uint32(len(one.IDs))}
		if nested {
			lengths = one.Sentences
		}
		for _, length := range lengths {
			sum += int(length)
			longest = max(longest, int(length))
		}
		sentences, most = sentences+len(lengths), max(most, len(lengths))
	}
	found := limits{space: {atLeast1(sum), longest}}
	if parent := m.Spaces[space].Parent; parent >= 0 {
		found[parent] = [2]int{atLeast1(sentences), 0}
		if nested {
			found[parent] = [2]int{atLeast1(sentences), most}
		}
		if above := m.Spaces[parent].Parent; above >= 0 {
			found[above] = [2]int{atLeast1(len(encodings)), 0}
		}
	}
	rows, segment := 1, 1
	for _, limit := range found {
		rows, segment = max(rows, limit[0]), max(segment, limit[1])
	}
	for i, space := range m.Spaces {
		if space.IsCached { // one run has all rows of a cached text
			found[i] = [2]int{rows, segment}
		}
	}
	return found
}

func max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func (m *Model) listed(given limits) []Limit {
	var found []Limit
	for i, space := range m.Spaces {
		if limit, ok := given[i]; ok {
			found = append(found, Limit{space.Name, limit[0], limit[1]})
		}
	}
	return found
}

// fillInputs sets inputs that texts do not set to what metadata default.NAME specifies.
func (s *Session) fillInputs() error {
	for _, value := range s.program.Values {
		if !value.IsInput || value.IsCarried || value.Name == "input_ids" || value.Name == "token_type_ids" {
			continue
		}
		text, _ := s.model.Find("default." + value.Name)
		number, err := strconv.ParseInt(text, 10, 32)
		if err != nil || value.Type != I32 {
			return refuse(BadName, "program '"+s.program.Name+"'", "input '%s' is not made of texts", value.Name)
		}
		offsets, err := s.Segments(s.model.Spaces[value.Space].Name)
		if err != nil {
			return err
		}
		rows := make([]int32, int(offsets[len(offsets)-1])*value.Width)
		for i := range rows {
			rows[i] = int32(number)
		}
		if err := s.WriteI32(value.Name, rows); err != nil {
			return err
		}
	}
	return nil
}

// RunEncodings runs a program over encoded texts. The session that it returns has the outputs, and is the caller's to
// close.
func (m *Model) RunEncodings(ctx context.Context, encodings []*Encoding, options RunOptions, keep []string,
	taps []Tap) (*Session, error) {
	session, _, err := m.run(ctx, encodings, options, keep, taps)
	return session, err
}

func (m *Model) run(ctx context.Context, encodings []*Encoding, options RunOptions, keep []string,
	taps []Tap) (*Session, limits, error) {
	program, err := m.Program(options.Program)
	if err != nil {
		return nil, nil, err
	}
	ids, err := m.idsOf(program)
	if err != nil {
		return nil, nil, err
	}
	fitting := m.limitsOf(program.Values[ids].Space, encodings)
	session, err := m.Session(SessionOptions{Program: program.Name, Limits: m.listed(fitting), Workers: options.Workers,
		Keep: keep, Taps: taps})
	if err != nil {
		return nil, nil, err
	}
	if err = session.Bind(encodings); err == nil {
		err = session.fillInputs()
	}
	if err == nil {
		err = session.Run(ctx)
	}
	if err != nil {
		session.Close()
		return nil, nil, err
	}
	return session, fitting, nil
}

func (m *Model) runTexts(ctx context.Context, texts []string, options RunOptions, taps []Tap) (*Session, []*Encoding,
	error) {
	program, err := m.Program(options.Program)
	if err != nil {
		return nil, nil, err
	}
	encodings, err := m.encodeFor(program, texts, options)
	if err != nil {
		return nil, nil, err
	}
	session, _, err := m.run(ctx, encodings, options, nil, taps)
	return session, encodings, err
}

// results returns all results of the session's last run.
func (s *Session) results(info *C.fovea_result_info) ([][]float32, error) {
	var record C.fovea_error
	var count C.uint32_t
	if err := failed(s.model.Name, C.fovea_result_get_count(s.handle, info, &count, &record), &record); err != nil {
		return nil, err
	}
	width := int(info.width)
	all := make([]float32, int(count)*width+1) // not empty: it needs an address
	status := C.fovea_result_read(s.handle, info, 0, count, (*C.float)(unsafe.Pointer(&all[0])),
		C.uint64_t(len(all)), &record)
	if err := failed(s.model.Name, status, &record); err != nil {
		return nil, err
	}
	rows := make([][]float32, count)
	for i := range rows {
		rows[i] = all[i*width : (i+1)*width : (i+1)*width]
	}
	return rows, nil
}

func (m *Model) classes(info *C.fovea_result_info, logits, scores []float32) []Class {
	numbers := info.width == 1 || info.activation == C.FOVEA_ACTIVATION_NONE
	order := make([]uint32, len(scores))
	for i := range order {
		order[i] = uint32(i)
	}
	if !numbers {
		C.fovea_result_rank((*C.float)(unsafe.Pointer(&scores[0])), info.width, info.width,
			(*C.uint32_t)(unsafe.Pointer(&order[0])))
	}
	classes := make([]Class, len(scores))
	for i, index := range order {
		classes[i] = Class{Label: m.Label(int(index)), Logit: logits[index], Index: int(index), HasProbability: !numbers}
		if !numbers {
			classes[i].Probability = float64(scores[index])
		}
	}
	return classes
}

// Classify returns for each text its classes, the most probable first.
func (m *Model) Classify(ctx context.Context, texts []string, options RunOptions) ([][]Class, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	session, _, err := m.runTexts(ctx, texts, options, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	info, err := m.resultInfo(session.program)
	if err != nil {
		return nil, err
	}
	if info.kind != C.FOVEA_RESULT_CLASSES {
		return nil, refuse(BadName, m.Name, "the program has no scores of classes of a text")
	}
	logits, err := session.Output("logits")
	if err != nil {
		return nil, err
	}
	scores, err := session.results(&info)
	if err != nil {
		return nil, err
	}
	var classes [][]Class
	for i := range texts {
		classes = append(classes, m.classes(&info, logits.Row(i), scores[i]))
	}
	return classes, nil
}

// prompted puts the model's prompt in front of texts.
func (m *Model) prompted(texts []string, options RunOptions) ([]string, error) {
	if options.Prompt == "" && options.NoPrompt {
		return texts, nil
	}
	core, err := m.use()
	if err != nil {
		return nil, err
	}
	defer core.release()
	var name *C.char // none: the default prompt
	if options.Prompt != "" {
		name = bytesOf(options.Prompt + "\x00")
	}
	var found *C.char
	var record C.fovea_error
	status := C.fovea_text_get_prompt(core.handle, name, &found, nil, &record)
	if status == C.FOVEA_E_NAME {
		known := []string{}
		for _, one := range m.Metadata {
			if strings.HasPrefix(one.Key, "prompt.") {
				known = append(known, one.Key[len("prompt."):])
			}
		}
		if len(known) == 0 {
			known = []string{"none"}
		}
		wanted := options.Prompt
		if wanted == "" {
			wanted, _ = m.Find("default_prompt")
		}
		return nil, refuse(BadName, m.Name, "no prompt '%s'; its prompts are: %s", wanted, strings.Join(known, ", "))
	}
	if err := failed(m.Name, status, &record); err != nil {
		return nil, err
	}
	prompt := C.GoString(found)
	if prompt == "" {
		return texts, nil
	}
	if options.Prompt == "" {
		m.announce(fmt.Sprintf("the model's default prompt is in front of each text: '%s'; NoPrompt leaves it out", prompt))
	}
	var made []string
	for _, text := range texts {
		made = append(made, prompt+text)
	}
	return made, nil
}

// Embed returns a row for each text: the sentence embedding or pooled output of the model, or else the mean of its last
// hidden states; or the weights of the vocabulary, if it was published for them (SPLADE).
func (m *Model) Embed(ctx context.Context, texts []string, options RunOptions) ([][]float32, error) {
	texts, err := m.prompted(texts, options)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	session, _, err := m.runTexts(ctx, texts, options, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	info, err := m.resultInfo(session.program)
	if err != nil {
		return nil, err
	}
	if info.kind == C.FOVEA_RESULT_WORD_WEIGHTS {
		return session.results(&info)
	}
	if info.kind == C.FOVEA_RESULT_ANSWERS {
		return nil, refuse(BadName, m.Name, "it answers questions, and has no embeddings: use Answer")
	}
	if info.kind != C.FOVEA_RESULT_EMBEDDING {
		return nil, refuse(BadName, m.Name, "its outputs are scores of classes or words, not an embedding; "+
			"fovea convert --task embedding converts the model without them")
	}
	if info.pooling != C.FOVEA_POOLING_NONE {
		m.announce("the model has no embedding of a text: the mean of the rows of '" +
			session.program.Values[info.value].Name + "' is used")
	}
	return session.results(&info)
}

// Normalise scales rows to length 1, in place; zeros stay zeros.
func Normalise(rows [][]float32) {
	for _, row := range rows {
		sum := 0.0
		for _, x := range row {
			sum += float64(x) * float64(x)
		}
		for i := range row {
			if sum > 0 {
				row[i] = float32(float64(row[i]) / math.Sqrt(sum))
			}
		}
	}
}

// Looked is where a model looked.
type Looked struct {
	Encodings []*Encoding
	Maps      []*AttentionMap
	File      []byte // The maps as a safetensors file, which `fovea attend --from` shows as a page.
}

// Look runs a program over texts and keeps the attention of operations; taps nil: of all, dense.
func (m *Model) Look(ctx context.Context, texts []string, taps []Tap, options RunOptions) (*Looked, error) {
	program, err := m.Program(options.Program)
	if err != nil {
		return nil, err
	}
	if taps == nil {
		for _, name := range program.Attentions() {
			taps = append(taps, Tap{Operation: name})
		}
	}
	if len(texts) == 0 || len(taps) == 0 {
		return nil, refuse(BadOption, m.Name, "a text and an operation are needed")
	}
	session, encodings, err := m.runTexts(ctx, texts, options, taps)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	looked := &Looked{Encodings: encodings}
	for _, tap := range taps {
		found, err := session.AttentionMap(tap.Operation)
		if err != nil {
			return nil, err
		}
		looked.Maps = append(looked.Maps, found)
	}
	looked.File, err = session.TapsFile()
	return looked, err
}
