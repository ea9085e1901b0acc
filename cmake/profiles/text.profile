# FOVEA_PROFILE=text: the tokenizer of any model, and nothing that runs one. A file with fewer lines, for example only the
# lines "tokenizer" and "text" of `fovea inspect MODEL --needs`, makes a smaller library.
tokenizer *
text *
part errors
