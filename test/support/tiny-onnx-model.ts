import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The size of the vectors that the tiny model gives. */
export const TINY_DIMENSION = 16;

/**
 * Writes a sentence model that is as small as one can be, in the form in which real ones come: a tokenizer of single characters and an
 * ONNX graph of one node, `Gather(embeddings, input_ids)`. The table is made from a formula, so that it is the same everywhere.
 */
export async function writeTinyModel(folder: string): Promise<void> {
  const characters = [..."abcdefghijklmnopqrstuvwxyz0123456789"];
  const tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", ...characters, ...characters.map((character) => `##${character}`)];
  const special = tokens
    .slice(0, 4)
    .map((content, id) => ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }));
  const files: Record<string, string | Uint8Array> = {
    "config.json": JSON.stringify({
      model_type: "bert",
      architectures: ["BertModel"],
      hidden_size: TINY_DIMENSION,
      vocab_size: tokens.length,
    }),
    "tokenizer_config.json": JSON.stringify({
      tokenizer_class: "BertTokenizer",
      model_max_length: 512,
      ...{ pad_token: "[PAD]", unk_token: "[UNK]", cls_token: "[CLS]", sep_token: "[SEP]" },
    }),
    "tokenizer.json": JSON.stringify({
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: special,
      normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
      pre_tokenizer: { type: "BertPreTokenizer" },
      post_processor: { type: "BertProcessing", sep: ["[SEP]", 3], cls: ["[CLS]", 2] },
      decoder: { type: "WordPiece", prefix: "##", cleanup: true },
      model: {
        type: "WordPiece",
        unk_token: "[UNK]",
        continuing_subword_prefix: "##",
        max_input_chars_per_word: 100,
        vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      },
    }),
    "onnx/model.onnx": gatherModel(tokens.length),
  };
  await mkdir(join(folder, "onnx"), { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
}

/** An ONNX ModelProto (https://onnx.ai/onnx/repo-docs/IR.html), field by field. */
function gatherModel(rows: number): Uint8Array {
  const table = Float32Array.from({ length: rows * TINY_DIMENSION }, (_, i) => Math.sin((i + 1) ** 2));
  const initializer = message(
    [1, packedInts([rows, TINY_DIMENSION])], // dims
    [2, 1], // data_type FLOAT
    [8, "embeddings"], // name
    [9, new Uint8Array(table.buffer)], // raw_data
  );
  const node = message([1, "embeddings"], [1, "input_ids"], [2, "last_hidden_state"], [3, "gather"], [4, "Gather"]);
  const graph = message(
    [1, node],
    [2, "tiny"],
    [5, initializer],
    [11, valueInfo("input_ids", 7, ["batch", "tokens"])], // INT64
    [12, valueInfo("last_hidden_state", 1, ["batch", "tokens", TINY_DIMENSION])], // FLOAT
  );
  const opset = message([1, ""], [2, 13]);
  return message([1, 8], [7, graph], [8, opset]);
}

function valueInfo(name: string, elementType: number, shape: readonly (string | number)[]): Uint8Array {
  const dimensions = shape.map((size): [number, Uint8Array] => [1, typeof size === "string" ? message([2, size]) : message([1, size])]);
  return message([1, name], [2, message([1, message([1, elementType], [2, message(...dimensions)])])]);
}

/** Protocol buffers: whole numbers as varints, everything else length-delimited. */
function message(...fields: readonly [number: number, value: number | string | Uint8Array][]): Uint8Array {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === "number") return [varint(number << 3), varint(value)];
      const bytes = typeof value === "string" ? Buffer.from(value) : value;
      return [varint((number << 3) | 2), varint(bytes.length), bytes];
    }),
  );
}

function packedInts(values: readonly number[]): Uint8Array {
  return Buffer.concat(values.map(varint));
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
