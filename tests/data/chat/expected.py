"""Writes expected.json: the prompts of the templates of this folder, and the values of small expressions, by Jinja2
(3.1.6) set up as transformers sets it up. Run it after a change of a template:

  python3 tests/data/chat/expected.py
"""
import datetime
import json
import pathlib

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = pathlib.Path(__file__).parent
NOW = datetime.datetime(2026, 3, 4, 5, 6, 7)


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("text", [])
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def text(self, caller):
        return caller()


def refuse(message):
    raise TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[Generation, "jinja2.ext.loopcontrols"])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = refuse
    env.globals["strftime_now"] = NOW.strftime
    return env


TOOLS = [
    {"type": "function", "function": {
        "name": "weather", "description": " The weather <today> & later. ",
        "parameters": {"type": "object", "properties": {
            "city": {"type": "string", "description": "Ort, z. B. \"K\u00f6ln\""},
            "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
            "days": {"type": ["integer", "null"], "default": 2.50},
            "where": {"type": "array", "items": {"type": "number"}},
            "more": {"type": "object", "properties": {"deep": {"type": "array", "items": {"type": "array", "items": {
                "type": "boolean"}}}}, "required": ["deep"], "additionalProperties": {"type": "string"}}},
            "required": ["city"]}}},
    {"type": "function", "function": {"name": "now", "description": "The time.",
                                      "parameters": {"type": "object", "properties": {}, "required": []}}}]
CALL = {"id": "abcdefghi", "type": "function", "function": {
    "name": "weather", "arguments": {"city": "\u6771\u4eac \U0001f5fc", "days": 3, "where": [1.5, -2e-7, 1e22], "more": None}}}
CHATS = {
    "question": [{"role": "user", "content": " Hi <b> "}],
    "talk": [{"role": "system", "content": "Be brief.\n"}, {"role": "user", "content": " Hi "},
             {"role": "assistant", "content": "Hello\u00a0"}, {"role": "user", "content": "Bye\n\n"}],
    "answered": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
    "tools": [{"role": "user", "content": "Weather?"},
              {"role": "assistant", "content": "", "tool_calls": [CALL]},
              {"role": "tool", "content": "{\"sun\": true}", "name": "weather", "tool_call_id": "abcdefghi"},
              {"role": "assistant", "content": "Sunny."}, {"role": "user", "content": "Thanks"}],
    "two calls": [{"role": "system", "content": "S /no_think"}, {"role": "user", "content": "x"},
                  {"role": "assistant", "content": "I look.", "tool_calls": [CALL, CALL]},
                  {"role": "tool", "content": "1", "tool_call_id": "abcdefghi"},
                  {"role": "tool", "content": "2", "tool_call_id": "abcdefghi"}],
    "thoughts": [{"role": "user", "content": "1+1"},
                 {"role": "assistant", "content": "<think>\nadd\n</think>\n\n2"}, {"role": "user", "content": "2+2"},
                 {"role": "assistant", "reasoning_content": "\nmore\n", "thinking": "more", "content": "4"}],
    "parts": [{"role": "system", "content": [{"type": "text", "text": "S"}]},
              {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": " what? "}]}],
    "not alternating": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
    "none": [],
}
VARIABLES = [{}, {"tools": TOOLS}, {"enable_thinking": False, "date_string": "1 Jan 2026"},
             {"documents": [{"doc_id": 7, "text": "D"}], "controls": {"length": "short"}},
             {"tools": TOOLS, "tools_in_user_message": False, "builtin_tools": ["code_interpreter", "weather"]},
             {"enable_thinking": True, "reasoning_effort": "high", "thinking": True, "xml_tools": TOOLS}]

DATA = {"none_": None, "yes": True, "one": 1, "half": 0.5, "s": "aXb  c\n", "uni": "\u00c4\u00f6\u00df \u03b1\u03a9 \u0436",
        "l": [3, 1, 2], "words": ["b", "A", "c", "a"], "d": {"b": 1, "a": [1, {"x": None}], "items": 5},
        "people": [{"n": "x", "age": 3, "in": {"k": 1}}, {"n": "Y", "age": 1}, {"n": "x", "age": 2}]}


def check(template, variables):
    try:
        return environment().from_string(template).render(**variables)
    except Exception:  # any error of Python is a refusal
        return None


def main():
    cases = []
    for path in sorted(HERE.glob("*.jinja")):
        for chat, messages in CHATS.items():
            for number, variables in enumerate(VARIABLES):
                for answers in (True, False) if number == 0 else (True,):
                    names = {"messages": messages, "tools": None, "documents": None, "bos_token": "<s>",
                             "eos_token": "</s>", "add_generation_prompt": answers, **variables}
                    prompt = check(path.read_text(encoding="utf-8"), names)
                    if number != 0 and any(c["template"] == path.stem and c["chat"] == chat and c["prompt"] == prompt
                                           for c in cases):
                        continue  # these variables change nothing
                    cases.append({"template": path.stem, "chat": chat, "variables": number, "answers": answers,
                                  "prompt": prompt})
    lines = (HERE / "expressions.txt").read_text(encoding="utf-8").splitlines()
    expressions = []
    for line in lines:
        if line and not line.startswith("##"):
            source = line.replace("\u00b6", "\n")
            expressions.append([source, check(source, DATA)])
    # Equal prompts are stored once.
    prompts = sorted({case["prompt"] for case in cases if case["prompt"] is not None})
    for case in cases:
        case["prompt"] = -1 if case["prompt"] is None else prompts.index(case["prompt"])
    text = {"chats": CHATS, "variables": VARIABLES, "data": DATA, "prompts": prompts,
            "cases": [[c["template"], c["chat"], c["variables"], int(c["answers"]), c["prompt"]] for c in cases],
            "expressions": expressions}
    with open(HERE / "expected.json", "w", encoding="utf-8") as out:
        out.write("{\n" + ",\n".join(
            json.dumps(key) + ": " + ("[\n" + ",\n".join(json.dumps(v) for v in value) + "\n]"
                                      if isinstance(value, list) else json.dumps(value))
            for key, value in text.items()) + "\n}\n")
    print(len(cases), "prompts,", sum(c["prompt"] < 0 for c in cases), "refused;", len(expressions), "expressions,",
          sum(e[1] is None for e in expressions), "refused")


main()
