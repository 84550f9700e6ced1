import { readFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";

/** As the model was trained: lower case, no accents, words and marks apart, what is no word of the vocabulary in pieces of it. */
const RULES = {
  version: "1.0",
  // A text that holds "[SEP]" holds a word in brackets.
  added_tokens: [],
  normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
  pre_tokenizer: { type: "BertPreTokenizer" },
  post_processor: null,
  decoder: null,
};
const WORD_PIECE = { type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##", max_input_chars_per_word: 100 };

/** UTF-16 units that are looked at for each token that is wanted: more than any language needs. */
const UNITS_PER_TOKEN = 16;

export class WordPieces {
  readonly #tokenizer: Tokenizer;
  readonly #first: number;
  readonly #last: number;

  /** @param vocabulary path of a file with one token a line, in the order of their ids */
  constructor(vocabulary: string) {
    const tokens = readFileSync(vocabulary, "utf8").trimEnd().split("\n");
    const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
    this.#tokenizer = new Tokenizer({ ...RULES, model: { ...WORD_PIECE, vocab } }, {});
    this.#first = tokens.indexOf("[CLS]");
    this.#last = tokens.indexOf("[SEP]");
  }

  /** At most `max` ids; what is beyond is cut off. Begins and ends as a text does in training. */
  idsOf(text: string, max: number): number[] {
    const { ids } = this.#tokenizer.encode(text.slice(0, max * UNITS_PER_TOKEN), { add_special_tokens: false });
    return [this.#first, ...ids.slice(0, max - 2), this.#last];
  }
}
