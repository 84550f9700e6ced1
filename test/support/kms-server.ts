import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { onLoopback } from "./on-loopback.js";

type Asked = { KeyId: string; Plaintext?: string; CiphertextBlob?: string; EncryptionContext: Record<string, string> };

export interface KmsServer {
  /** What the client reads of its environment to come here. */
  readonly env: Readonly<Record<string, string>>;
  readonly asked: readonly { readonly operation: string; readonly input: Asked }[];
  arn(name: string): string;
  /** All requests are refused so, until null. `cut`: without an answer. */
  fail(error: { readonly name: string; readonly status: number } | "cut" | null): void;
}

/** AWS KMS as far as wrapping and unwrapping go: its JSON over HTTP, with these keys. An alias names the first. */
export async function openKmsServer(names: readonly string[] = ["one"]): Promise<KmsServer> {
  const keys = new Map(names.map((name) => [arnOf(name), randomBytes(32)]));
  const asked: { operation: string; input: Asked }[] = [];
  let failure: Parameters<KmsServer["fail"]>[0] = null;
  const answer = (operation: string, input: Asked): readonly [number, object] => {
    if (failure !== null && failure !== "cut") return [failure.status, { __type: failure.name, message: "No." }];
    const arn = input.KeyId.startsWith("alias/") ? arnOf(names[0] ?? "") : input.KeyId;
    const key = keys.get(arn);
    if (key === undefined) return [400, { __type: "NotFoundException", message: `There is no ${input.KeyId}.` }];
    const context = Buffer.from(JSON.stringify(input.EncryptionContext));
    if (operation === "Encrypt") {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(context);
      const body = Buffer.concat([cipher.update(Buffer.from(input.Plaintext ?? "", "base64")), cipher.final()]);
      return [200, { CiphertextBlob: Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64"), KeyId: arn }];
    }
    try {
      const blob = Buffer.from(input.CiphertextBlob ?? "", "base64");
      const decipher = createDecipheriv("aes-256-gcm", key, blob.subarray(0, 12)).setAAD(context).setAuthTag(blob.subarray(12, 28));
      const plain = Buffer.concat([decipher.update(blob.subarray(28)), decipher.final()]);
      return [200, { Plaintext: plain.toString("base64"), KeyId: arn }];
    } catch {
      return [400, { __type: "InvalidCiphertextException", message: "" }];
    }
  };
  const server = createServer(async (request, response) => {
    if (failure === "cut") return void request.destroy();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const operation = String(request.headers["x-amz-target"]).replace("TrentService.", "");
    const input = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Asked;
    asked.push({ operation, input });
    const [status, body] = answer(operation, input);
    response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
  });
  const env = {
    AWS_ENDPOINT_URL_KMS: await onLoopback(server),
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: "eu-west-1",
    NODE_NO_WARNINGS: "1",
  };
  return {
    env,
    asked,
    arn: arnOf,
    fail: (error) => {
      failure = error;
    },
  };
}

function arnOf(name: string): string {
  return `arn:aws:kms:eu-west-1:111122223333:key/${name}`;
}
