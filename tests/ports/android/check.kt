import fovea.answer
import fovea.classify
import fovea.component1
import fovea.component2
import fovea.embed
import fovea.embedSequence
import fovea.explain
import fovea.generate
import fovea.generateParts
import fovea.openModel
import fovea.wordWeights

/** The functions for Kotlin give what the Java classes give.   check.kt FOLDER */
fun main(arguments: Array<String>) {
    val folder = arguments[0]
    openModel("$folder/package-section.fovea") { skipChecksum(true) }.use { model ->
        val classes = model.classify("a text editor") { top(2).workers(2) }
        check(classes.toString() == model.classify("a text editor").take(2).toString()) { "classes" }
        val (label, score) = classes[0]
        check(label == classes[0].label && score == classes[0].probability) { "components" }
        check(model.classify(listOf("x", "y")) { top(1) }.all { it.size == 1 }) { "classes of several texts" }
    }
    openModel("$folder/package-section-encoder.fovea").use { model ->
        val texts = generateSequence(0) { it + 1 }.map { "text $it" }
        val rows = model.embedSequence(texts.take(100)) { batchSize(3).normalise(true) }.toList()
        val expected = model.embed(texts.take(100).toList()) { normalise(true) }
        check(rows.size == 100 && rows.indices.all { rows[it].contentEquals(expected[it]) }) { "embeddings" }
        check(model.embed("text 7") { normalise(true) }.contentEquals(expected[7])) { "one embedding" }
    }
    openModel("$folder/weights.fovea").use { model ->
        val weights = model.wordWeights(listOf("a text editor")) { top(3).prompt("") }[0]
        check(weights.size == 3 && weights[0].weight >= weights[2].weight) { "weights" }
    }
    openModel("$folder/question.fovea").use { model ->
        val answers = model.answer("which one", "a text editor, a library") { top(2) }
        check(answers.size == 2 && answers[0].text == model.answer("which one", "a text editor, a library")[0].text)
    }
    openModel("$folder/package-section-hierarchical.fovea").use { model ->
        val (word, share) = model.explain("A text editor. It edits.") { top(1) }.top(1)[0]
        check(word.isNotEmpty() && share > 0) { "explanation" }
    }
    openModel("$folder/package-writer.fovea").use { model ->
        val text = model.generate("Package: vim") { maxTokens(12) }.text()
        val parts = model.generateParts("Package: vim") { maxTokens(12) }
        check(parts.joinToString("") == text && parts.count() > 3) { "parts" }
    }
    println("kotlin: as Java")
}
