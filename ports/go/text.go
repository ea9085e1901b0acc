package fovea

// #include "bridge.h"
import "C"

import "unsafe"

// Encoding is the tokens of a text or a document.
type Encoding struct {
	IDs              []int32
	Types            []int32     // For models that read pairs of texts.
	Special          []bool      // Added by the tokenizer.
	Ranges           [][2]uint32 // Begin and end of each token in the text's bytes.
	Dropped          int         // Tokens that truncation removed.
	Sentences        []uint32    // Of a document: the tokens of each sentence; else nil.
	SentenceRanges   [][2]uint32 // Of a document: begin and end of each sentence in its bytes.
	DroppedSentences int         // Of a document: sentences at its end that are left out.
	Spelled          int         // Special tokens that the texts spell, except mask and unknown tokens.

	textTokens [2]uint64 // Of a pair: tokens of both texts before truncation, without special ones.
}

// EncodeOptions says how a text is encoded.
type EncodeOptions struct {
	MaxLength int  // The most tokens; 0: the model's limit.
	Whole     bool // No truncation; MaxLength must be 0.
	Plain     bool // Without special tokens.
	Wrapped   bool // Documents: line ends are line wraps. Without it each ends a sentence.
	Literal   bool // Special tokens that the text spells, such as "</s>", are text: for texts of strangers.
}

func (o EncodeOptions) flags() C.uint32_t {
	var flags C.uint32_t
	if o.Whole {
		flags |= C.FOVEA_TEXT_UNLIMITED
	}
	if o.Plain {
		flags |= C.FOVEA_TEXT_PLAIN
	}
	if o.Wrapped {
		flags |= C.FOVEA_TEXT_WRAPPED
	}
	if o.Literal {
		flags |= C.FOVEA_TEXT_LITERAL
	}
	return flags
}

// TokenizerInfo has the properties of a tokenizer.
type TokenizerInfo struct {
	Vocabulary             int // Ids are below this.
	MaxLength              int // The most tokens that the model reads; 0: the blob states no limit.
	PadID, MaskID, Unknown int // -1: there is none.
}

// Tokenizer returns the properties of the model's tokenizer; an error if it has none.
func (m *Model) Tokenizer() (TokenizerInfo, error) {
	core, err := m.use()
	if err != nil {
		return TokenizerInfo{}, err
	}
	defer core.release()
	var info C.fovea_text_info
	info.struct_size = C.size_t(unsafe.Sizeof(info))
	var record C.fovea_error
	if err := failed(m.Name, C.fovea_text_get_info(core.handle, &info, &record), &record); err != nil {
		return TokenizerInfo{}, err
	}
	return TokenizerInfo{int(info.vocabulary), int(info.max_length), int(info.pad_id), int(info.mask_id),
		int(info.unknown_id)}, nil
}

// Encode returns the tokens of a text, truncated at the model's limit.
func (m *Model) Encode(text string, options EncodeOptions) (*Encoding, error) {
	return m.encode(text, "", false, options)
}

// EncodePair returns the tokens of two texts that are read together.
func (m *Model) EncodePair(text, second string, options EncodeOptions) (*Encoding, error) {
	return m.encode(text, second, true, options)
}

// EncodeDocument returns the tokens of a document, sentence by sentence.
func (m *Model) EncodeDocument(text string, options EncodeOptions) (*Encoding, error) {
	room := len(text) + 1 // no sentence is shorter than a byte
	lengths, ranges := make([]uint32, room), make([][2]uint32, room)
	var counts [5]C.uint64_t
	encoding, err := m.filled(text, len(text), &counts, options, func(core *core, scratch block, made *arrays,
		most C.uint32_t, record *C.fovea_error) C.fovea_status {
		return C.bridge_encode_document(core.handle, bytesOf(text), C.uint64_t(len(text)), options.flags(), most,
			scratch.at, C.uint64_t(scratch.size), C.uint64_t(len(made.ids)), (*C.int32_t)(first(made.ids)),
			(*C.int32_t)(first(made.types)), (*C.uint8_t)(first(made.special)), (*C.uint32_t)(first(made.ranges)),
			C.uint64_t(room), (*C.uint32_t)(first(lengths)), (*C.uint32_t)(first(ranges)), &counts[0], record)
	})
	if err != nil {
		return nil, err
	}
	encoding.Sentences, encoding.SentenceRanges = lengths[:counts[2]], ranges[:counts[2]]
	encoding.DroppedSentences = int(counts[3])
	return encoding, nil
}

func (m *Model) encode(text, second string, isPair bool, options EncodeOptions) (*Encoding, error) {
	longest, pair := len(text), C.int(0)
	if isPair {
		pair = 1
	}
	if len(second) > longest {
		longest = len(second)
	}
	var counts [5]C.uint64_t
	encoding, err := m.filled(text+second, longest, &counts, options, func(core *core, scratch block, made *arrays,
		most C.uint32_t, record *C.fovea_error) C.fovea_status {
		return C.bridge_encode(core.handle, bytesOf(text), C.uint64_t(len(text)), bytesOf(second),
			C.uint64_t(len(second)), pair, options.flags(), most, scratch.at, C.uint64_t(scratch.size),
			C.uint64_t(len(made.ids)), (*C.int32_t)(first(made.ids)), (*C.int32_t)(first(made.types)),
			(*C.uint8_t)(first(made.special)), (*C.uint32_t)(first(made.ranges)), &counts[0], record)
	})
	if err != nil {
		return nil, err
	}
	encoding.textTokens = [2]uint64{uint64(counts[2]), uint64(counts[3])}
	return encoding, nil
}

type arrays struct {
	ids, types []int32
	special    []uint8
	ranges     [][2]uint32
}

// filled calls `fill` with arrays and scratch, again if the arrays are too small.
func (m *Model) filled(text string, longest int, counts *[5]C.uint64_t, options EncodeOptions,
	fill func(*core, block, *arrays, C.uint32_t, *C.fovea_error) C.fovea_status) (*Encoding, error) {
	core, err := m.use()
	if err != nil {
		return nil, err
	}
	defer core.release()
	most, err := number32(options.MaxLength, "max length")
	if err != nil {
		return nil, err
	}
	var needed C.uint64_t
	var record C.fovea_error
	status := C.fovea_text_scratch_size(core.handle, C.uint64_t(longest), &needed, &record)
	if err := failed("text", status, &record); err != nil {
		return nil, err
	}
	scratch, err := allocate(uint64(needed))
	if err != nil {
		return nil, err
	}
	defer scratch.free()
	for capacity := len(text) + 16; ; capacity = int(counts[0]) {
		made := &arrays{make([]int32, capacity), make([]int32, capacity), make([]uint8, capacity),
			make([][2]uint32, capacity)}
		status := fill(core, scratch, made, most, &record)
		if status == C.FOVEA_E_CAPACITY && int(counts[0]) > capacity {
			continue
		}
		if err := failed("text", status, &record); err != nil {
			return nil, err
		}
		count := int(counts[0])
		encoding := &Encoding{IDs: made.ids[:count], Types: made.types[:count], Special: make([]bool, count),
			Ranges: made.ranges[:count], Spelled: int(counts[4])}
		kept := 0
		for i, special := range made.special[:count] {
			encoding.Special[i] = special != 0
			if special == 0 {
				kept++
			}
		}
		if dropped := int(counts[1]) - kept; dropped > 0 {
			encoding.Dropped = dropped
		}
		return encoding, nil
	}
}

// written calls a function that writes text, again if it needs more than `capacity` bytes.
func written(capacity int, write func(*C.char, C.uint64_t, *C.uint64_t, *C.fovea_error) C.fovea_status) (string, error) {
	output := make([]byte, capacity)
	for turn := 0; ; turn++ {
		var size C.uint64_t
		var record C.fovea_error
		status := write((*C.char)(first(output)), C.uint64_t(len(output)), &size, &record)
		if status == C.FOVEA_E_CAPACITY && turn == 0 {
			output = make([]byte, int(record.expected))
			continue
		}
		if err := failed("text", status, &record); err != nil {
			return "", err
		}
		return string(output[:size]), nil
	}
}

// Decode returns the text of ids, without special tokens; incomplete characters become U+FFFD.
func (m *Model) Decode(ids []int32) (string, error) {
	core, err := m.use()
	if err != nil {
		return "", err
	}
	defer core.release()
	ids = append(ids[:len(ids):len(ids)], 0) // an empty array also needs an address
	return written(16*len(ids), func(output *C.char, capacity C.uint64_t, size *C.uint64_t,
		record *C.fovea_error) C.fovea_status {
		return C.fovea_text_decode(core.handle, (*C.int32_t)(first(ids)), C.uint64_t(len(ids)-1), 0, output, capacity,
			size, record)
	})
}

// Piece returns the piece of an id as the vocabulary spells it.
func (m *Model) Piece(id int32) (string, error) {
	core, err := m.use()
	if err != nil {
		return "", err
	}
	defer core.release()
	var at *C.char
	var size C.uint32_t
	var record C.fovea_error
	status := C.fovea_text_get_token(core.handle, C.int32_t(id), &at, &size, nil, &record)
	if err := failed("token", status, &record); err != nil {
		return "", err
	}
	return string(copied[byte](unsafe.Pointer(at), int(size))), nil
}

// FindToken returns the id of a piece.
func (m *Model) FindToken(piece string) (int32, error) {
	core, err := m.use()
	if err != nil {
		return 0, err
	}
	defer core.release()
	var id C.int32_t
	var record C.fovea_error
	piece += "\x00" // an empty piece also needs an address
	status := C.fovea_text_find_token(core.handle, bytesOf(piece), C.uint32_t(len(piece)-1), &id, &record)
	return int32(id), failed(piece[:len(piece)-1], status, &record)
}
