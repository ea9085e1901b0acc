/** What Kotlin adds to the Java classes: options in a block, sequences, results by destructuring. */
@file:JvmName("FoveaKt")

package fovea

/** Opens a file, with options in a block: `openModel("model.fovea") { backend(ModelOptions.Backend.HIGHWAY) }`. */
fun openModel(path: String, options: ModelOptions.() -> Unit = {}): Model =
    Model.open(path, ModelOptions().apply(options))

/** The classes of a text: `model.classify("a text") { top(3) }`. */
fun Model.classify(text: String, options: ClassifyOptions.() -> Unit): List<Prediction> =
    classify(text, ClassifyOptions().apply(options))

fun Model.classify(texts: Iterable<String>, options: ClassifyOptions.() -> Unit): List<List<Prediction>> =
    classify(texts, ClassifyOptions().apply(options))

fun Model.embed(text: String, options: EmbedOptions.() -> Unit): FloatArray =
    embed(text, EmbedOptions().apply(options))

fun Model.embed(texts: Iterable<String>, options: EmbedOptions.() -> Unit): Array<FloatArray> =
    embed(texts, EmbedOptions().apply(options))

/** Embeddings one by one, in constant memory. */
fun Model.embedSequence(texts: Sequence<String>, options: EmbedOptions.() -> Unit = {}): Sequence<FloatArray> =
    Sequence { embedIterator(texts.asIterable(), EmbedOptions().apply(options)) }

/** The weights of tokens of the vocabulary: `model.wordWeights(texts) { top(10) }`. */
fun Model.wordWeights(texts: Iterable<String>, options: WeightOptions.() -> Unit = {}): List<List<Weight>> =
    wordWeights(texts, WeightOptions().apply(options))

/** The best answers to a question: `model.answer(question, context) { top(3) }`. */
fun Model.answer(question: String, context: String, options: AnswerOptions.() -> Unit): List<Answer> =
    answer(question, context, AnswerOptions().apply(options))

fun Model.explain(text: String, options: ExplainOptions.() -> Unit): Explanation =
    explain(text, ExplainOptions().apply(options))

fun Model.look(texts: Iterable<String>, options: LookOptions.() -> Unit): Looked =
    look(texts, LookOptions().apply(options))

/** Begins a text, to be closed: `model.generate("Once") { maxTokens(40) }.use { it.finish() }`. */
fun Model.generate(text: String, options: GenerateOptions.() -> Unit): Generation =
    generate(text, GenerateOptions().apply(options))

/**
 * What is added to a text, as it is made; the generation is closed at the end, also if it fails or is cancelled. A Flow
 * of kotlinx.coroutines is
 *
 *     flow { model.generateParts("Once").forEach { emit(it) } }.flowOn(Dispatchers.Default)
 *
 * and ends between two steps when it is cancelled; with `runInterruptible(Dispatchers.Default) { ... }` around a call,
 * cancelling interrupts the thread, which ends the call with the CancellationException that coroutines expect.
 */
fun Model.generateParts(text: String, options: GenerateOptions.() -> Unit = {}): Sequence<String> = sequence {
    generate(text, GenerateOptions().apply(options)).use { made ->
        for (step in made) {
            if (step.part().isNotEmpty()) yield(step.part())
        }
    }
}

operator fun Prediction.component1(): String = label

operator fun Prediction.component2(): Double = score

operator fun Explanation.Word.component1(): String = text

operator fun Explanation.Word.component2(): Double = share
