import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HashingEmbedder } from "../../src/embedding/hashing-embedder.js";
import { cosine, describeEmbedderContract } from "../contract/embedder.contract.js";

describeEmbedderContract("hashing", async () => ({ embedder: new HashingEmbedder({ dimension: 256 }) }));

const embedder = new HashingEmbedder();

async function nearness(a: string, b: string): Promise<number> {
  const [x, y] = await embedder.embed([a, b]);
  if (!x || !y) throw new Error("two texts, two vectors");
  return cosine(x, y);
}

describe("HashingEmbedder", () => {
  test("says that it is lexical, in its flag and in its id", () => {
    expect(embedder.lexical).toBe(true);
    expect(embedder.id).toContain("lexical");
    expect(embedder.dimension).toBe(768);
  });

  test.each([
    ["Prefers jazz concerts", "any jazz concert tonight?", "Needs a parking space"],
    ["Sitzt gern in der ersten Reihe", "ein Platz in der Reihe 1, erste Reihe bitte", "Isst kein Fleisch"],
    ["我喜欢爵士音乐会", "今晚有爵士音乐会吗", "我需要轮椅通道"],
    ["ジャズのコンサートが好きです", "今夜ジャズのコンサートはありますか", "車椅子の席が必要です"],
    ["재즈 콘서트를 좋아해요", "오늘 밤 재즈 콘서트 있어요?", "휠체어 좌석이 필요해요"],
    ["ฉันชอบคอนเสิร์ตแจ๊ส", "คืนนี้มีคอนเสิร์ตแจ๊สไหม", "ฉันต้องการทางลาดรถเข็น"],
  ])("%s is nearer to a text that shares its words than to one that doesn't", async (text, near, far) => {
    expect(await nearness(text, near)).toBeGreaterThan((await nearness(text, far)) + 0.1);
  });

  test("case, accents and width make no difference", async () => {
    expect(await nearness("Café ＪＡＺＺ", "cafe jazz")).toBeCloseTo(1, 5);
  });

  test("inflected forms stay near", async () => {
    expect(await nearness("concert", "concerts")).toBeGreaterThan(0.4);
    expect(await nearness("Konzert", "Konzerte")).toBeGreaterThan(0.4);
  });

  test("no component is negative and every vector has length 1, whatever the text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), async (text) => {
        const [vector] = await embedder.embed([text]);
        if (!vector) throw new Error("one text, one vector");
        expect(vector.every((value) => value >= 0)).toBe(true);
        expect(Math.hypot(...vector)).toBeCloseTo(1, 4);
      }),
    );
  });

  test.each([0, 7, 4097, 12.5, Number.NaN])("a dimension of %s is refused", (dimension) => {
    expect(() => new HashingEmbedder({ dimension })).toThrow(/8 to 4096/);
  });
});
