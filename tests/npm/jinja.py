"""Prompts of chat templates: fovea's, against those of Hugging Face's interpreter as npm has it.

  jinja.py FOVEA DIR            DIR has node_modules/@huggingface/jinja
  jinja.py FOVEA DIR --list     prints the cases in which npm's package differs from Python's Jinja2

The cases are those of tests/data/chat/expected.json, whose prompts are Python's, which transformers uses. npm's package
is another implementation of the language; where it differs from Python the case is in differences.json with the reason,
and Python's result is the right one. fovea's prompts are those of `fovea tokenize DIRECTORY --chat auto`.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
CHAT = HERE.parent / "data" / "chat"
WORDS = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "a": 4}


def tokenizer(folder, template):
    """A directory with a tokenizer of a few words: what is compared is the prompt's text."""
    added = [{"id": number, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for token, number in WORDS.items() if number < 4]
    model = {"type": "WordPiece", "vocab": WORDS, "unk_token": "[UNK]", "continuing_subword_prefix": "##",
             "max_input_chars_per_word": 100}
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": added, "normalizer": None, "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None, "decoder": None, "model": model}))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"chat_template": template, "bos_token": "<s>", "eos_token": "</s>"}))


def by_fovea(fovea, folder, messages, variables):
    (folder / "messages.json").write_text(json.dumps(messages))
    arguments = [fovea, "tokenize", str(folder), "--chat", "auto", "--json", "--date", "2026-03-04",
                 "--messages", str(folder / "messages.json")]
    for number, (name, value) in enumerate(variables.items()):
        (folder / f"value{number}.json").write_text(json.dumps(value))
        arguments += ["--template-arg", f"{name}=@{folder / f'value{number}.json'}"]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        return None, done.stderr.decode("utf-8", "replace")
    return json.loads(done.stdout)[0]["text"], ""


def by_npm(packages, templates, cases, work):
    path = work / "cases.json"
    path.write_text(json.dumps({"templates": templates, "time": [2026, 3, 4, 5, 6, 7], "cases": cases}))
    done = subprocess.run(["node", str(HERE / "jinja.mjs"), str(path), packages], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main():
    fovea, packages, *options = sys.argv[1:]
    data = json.loads((CHAT / "expected.json").read_text(encoding="utf-8"))
    templates = {path.stem: path.read_text(encoding="utf-8") for path in sorted(CHAT.glob("*.jinja"))}
    listed = json.loads((HERE / "differences.json").read_text(encoding="utf-8"))
    reasons = {tuple(case): reason for reason, of in listed.items() for case in of}
    inputs = []
    for name, chat, number, answers, _ in data["cases"]:
        inputs.append([name, {"messages": data["chats"][chat], "tools": None, "documents": None, "bos_token": "<s>",
                              "eos_token": "</s>", "add_generation_prompt": answers == 1, **data["variables"][number]}])
    wrong = equal = excused = asked = 0
    with tempfile.TemporaryDirectory() as made:
        work = pathlib.Path(made)
        results = by_npm(packages, templates, inputs, work)
        for (name, chat, number, answers, prompt), npm in zip(data["cases"], results):
            right = None if prompt < 0 else data["prompts"][prompt]
            differs = npm.get("text") != right
            if differs and "--list" in options:
                print(json.dumps([name, chat, number, answers]), npm.get("error", "another text"))
            if differs and (name, chat, number, answers) not in reasons:
                print(f"{name}, {chat}, variables {number}, answers {answers}: npm differs from Python\n"
                      f"  npm    {npm}\n  Python {right!r}")
                wrong += 1
            equal += not differs
            excused += differs
            messages = data["chats"][chat]
            # The command's prompts end with the beginning of an answer.
            if "--list" in options or not messages or answers != 1:
                continue
            folder = work / name
            if not folder.exists():
                folder.mkdir()
                tokenizer(folder, templates[name])
            got, error = by_fovea(fovea, folder, messages, data["variables"][number])
            asked += 1
            if got != right:
                print(f"{name}, {chat}, variables {number}: fovea differs\n  fovea    {got!r} {error}\n"
                      f"  expected {right!r}")
                wrong += 1
    print(f"{len(results)} prompts: {equal} equal in npm's package and Python, {excused} listed as different; "
          f"{asked} by the command; {wrong} wrong")
    return 1 if wrong or not equal else 0


if __name__ == "__main__":
    sys.exit(main())
