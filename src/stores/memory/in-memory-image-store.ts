import type { Owner } from "../../domain/owner.js";
import type { ImageStore } from "../../ports/image-store.js";

/** Images that are gone with the process: the same contract, durability aside. */
export class InMemoryImageStore implements ImageStore {
  readonly #owners = new Map<Owner, Map<string, Map<string, Uint8Array>>>();

  async put(owner: Owner, sessionId: string, id: string, data: Uint8Array): Promise<void> {
    const sessions = this.#owners.get(owner) ?? new Map<string, Map<string, Uint8Array>>();
    const images = sessions.get(sessionId) ?? new Map<string, Uint8Array>();
    this.#owners.set(owner, sessions.set(sessionId, images.set(id, new Uint8Array(data))));
  }

  async get(owner: Owner, sessionId: string, id: string): Promise<Uint8Array | null> {
    return this.#owners.get(owner)?.get(sessionId)?.get(id) ?? null;
  }

  async removeSession(owner: Owner, sessionId: string): Promise<number> {
    const count = this.#owners.get(owner)?.get(sessionId)?.size ?? 0;
    this.#owners.get(owner)?.delete(sessionId);
    return count;
  }

  async erase(owner: Owner): Promise<number> {
    const count = await this.residue(owner);
    this.#owners.delete(owner);
    return count;
  }

  async residue(owner: Owner): Promise<number> {
    return [...(this.#owners.get(owner)?.values() ?? [])].reduce((sum, images) => sum + images.size, 0);
  }
}
