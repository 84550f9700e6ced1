import { v5 } from "uuid";
import { expect, test } from "vitest";
import { derivedId, isId } from "../../src/platform/ids.js";

const NAMESPACE = "5b0e8a0e-6f0d-5c53-9d0f-6a6e2f0c8d11";

test("a derived id is the UUID, version 5, of its parts as JSON", () => {
  const parts = ["default:ada", "default:Zoë/日本", "a\u0000b", '"', "\ud800", ...Array.from({ length: 200 }, (_, n) => `message ${n}`)];
  for (const part of parts) {
    const id = derivedId("point", part, 1);
    expect(id).toBe(v5(JSON.stringify(["point", part, 1]), NAMESPACE));
    expect(isId(id)).toBe(true);
  }
});
