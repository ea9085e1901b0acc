/* The blob MODEL_FILE as a constant array with an alignment of 64 bytes. */
  .section .model, "a"
  .balign 64
  .global model_blob, model_blob_end
model_blob:
  .incbin MODEL_FILE
model_blob_end:
  .section .note.GNU-stack, "", %progbits
