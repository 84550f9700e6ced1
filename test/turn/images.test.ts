import { createHash } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { AppError } from "../../src/platform/errors.js";
import { estimatedTokens } from "../../src/platform/tokens.js";
import { buildContext } from "../../src/turn/context.js";
import { answering, makeOrchestrator } from "../support/orchestrator.js";
import { round } from "../support/rounds.js";
import { PNG } from "../support/samples.js";

const ada = ownerOf("default", "ada");
const ID = createHash("sha256").update(PNG).digest("hex");

describe("a turn with images, from code", () => {
  test("[turn-durable] has them kept before its message is written", async () => {
    const { chat, store } = await makeOrchestrator(answering("I see."), { takesImages: true });
    const put = vi.spyOn(store.images, "put");
    const create = vi.spyOn(store.journal, "create");
    const { session_id } = await chat.chat({ owner: ada, message: "Which?", images: [{ data: PNG }] });
    expect(await store.images.get(ada, session_id, ID)).toEqual(new Uint8Array(PNG));
    expect(put.mock.invocationCallOrder[0]).toBeLessThan(create.mock.invocationCallOrder[0] ?? 0);
  });

  test("leaves none where its session could not be written", async () => {
    const { chat, store } = await makeOrchestrator(answering(), { takesImages: true });
    vi.spyOn(store.journal, "create").mockRejectedValueOnce(new AppError("STORAGE_UNAVAILABLE"));
    const turn = chat.chat({ owner: ada, message: "Which?", images: [{ data: PNG }] });
    await expect(turn).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    expect(await store.images.residue(ada)).toBe(0);
  });

  test("is not written where they can't be kept", async () => {
    const { chat, store } = await makeOrchestrator(answering(), { takesImages: true });
    vi.spyOn(store.images, "put").mockRejectedValueOnce(new AppError("STORAGE_UNAVAILABLE"));
    const turn = chat.chat({ owner: ada, message: "Which?", images: [{ data: PNG }] });
    await expect(turn).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    expect(await store.journal.residue(ada)).toBe(0);
  });

  test.each([undefined, false])("is refused by a model that takes none, or doesn't say (%s)", async (takesImages) => {
    const { chat, store } = await makeOrchestrator(answering(), takesImages === undefined ? {} : { takesImages });
    const turn = chat.chat({ owner: ada, message: "Which?", images: [{ data: PNG }] });
    await expect(turn).rejects.toMatchObject({ code: "IMAGES_NOT_SUPPORTED" });
    expect([await store.journal.residue(ada), await store.images.residue(ada)]).toEqual([0, 0]);
  });

  test("holds at most four, whichever door they come through", async () => {
    const { chat } = await makeOrchestrator(answering(), { takesImages: true });
    const turn = chat.chat({ owner: ada, message: "Which?", images: Array.from({ length: 5 }, () => ({ data: PNG })) });
    await expect(turn).rejects.toMatchObject({ code: "INVALID_IMAGE" });
  });

  test("has less room for rounds: an image takes tokens too", () => {
    const rounds = Array.from({ length: 10 }, (_, at) => round(at + 1));
    const parts = { prompt: "p", profile: "", summary: null, rounds, recalled: [], history: [], pageContext: null };
    const given = { ...parts, question: "Which?", now: new Date(0), timeZone: "UTC" };
    const budget = { maxTokens: 1_600, counter: estimatedTokens };
    const image = { data: PNG, mediaType: "image/png" } as const;
    const [without, withOne] = [buildContext(given, budget), buildContext({ ...given, images: [image] }, budget)];
    expect(withOne.droppedRounds).toBeGreaterThan(without.droppedRounds);
    expect(withOne.tokens).toBeLessThanOrEqual(1_600);
    expect(withOne.input.messages.at(-1)).toMatchObject({ role: "user", images: [image] });
  });
});
