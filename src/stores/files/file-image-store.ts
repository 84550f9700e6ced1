import { join } from "node:path";
import { type Owner, ownerHash } from "../../domain/owner.js";
import { boundedFileSystem } from "../../platform/bounded-file-system.js";
import { AppError } from "../../platform/errors.js";
import { errnoOf, type FileSystem } from "../../platform/file-system.js";
import { isId } from "../../platform/ids.js";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
import { onStorage } from "../../platform/storage-errors.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type { ImageStore } from "../../ports/image-store.js";
import { keptBytes, keptFor, openedBytes } from "../journal/kept-content.js";
import { JournalDirectory } from "./journal-directory.js";

const TEMPORARY = ".tmp";
/** SHA-256 in hex: an owner's folder, an image's id. */
const HASH = /^[0-9a-f]{64}$/;
const SESSION_CHARS = 36;

export interface FileImageStoreOptions {
  readonly dir: string;
  readonly fileSystem: FileSystem;
  /** What content passes. Default: it is kept as it stands. */
  readonly codec?: ContentCodec | null;
}

/** Images in `{dir}/images/{SHA-256 of the owner}/{session id}.{SHA-256 of the image}`, beside the journals. */
export class FileImageStore implements ImageStore {
  readonly #root: string;
  readonly #dir: string;
  readonly #fs: FileSystem;
  readonly #codec: ContentCodec | null;
  /** Orders what writes to one owner's folder. */
  readonly #mutex = new KeyedMutex();

  private constructor(dir: string, fs: FileSystem, codec: ContentCodec | null) {
    this.#codec = codec;
    this.#root = dir;
    this.#dir = join(dir, "images");
    this.#fs = fs;
  }

  /** Removes what a crash left: half-written files, and images of sessions that have no journal. @throws STORAGE_UNAVAILABLE */
  static async open(options: FileImageStoreOptions): Promise<FileImageStore> {
    const { dir, fileSystem, codec = null } = options;
    const fs = boundedFileSystem(fileSystem);
    const store = new FileImageStore(dir, fs, codec);
    await onStorage(async () => {
      await store.#sweep(new JournalDirectory(dir, fs));
    });
    return store;
  }

  async put(owner: Owner, sessionId: string, id: string, data: Uint8Array): Promise<void> {
    const path = this.#path(owner, sessionId, id);
    const kept = keptBytes(data, await keptFor(this.#codec, owner));
    await this.#exclusively(owner, async (folder) => {
      await this.#fs.mkdir(folder);
      await this.#fs.syncDirectory(this.#root);
      await this.#fs.syncDirectory(this.#dir);
      if ((await this.#fs.stat(path))?.size !== kept.byteLength) await this.#write(path, kept);
      await this.#fs.syncDirectory(folder);
    });
  }

  async get(owner: Owner, sessionId: string, id: string): Promise<Uint8Array | null> {
    const path = this.#path(owner, sessionId, id);
    const kept = await keptFor(this.#codec, owner);
    return onStorage(async () => {
      const found = await this.#fs.stat(path);
      if (found === null) return null;
      const file = await this.#fs.open(path, "read");
      try {
        return openedBytes(await file.read(0, found.size), kept);
      } finally {
        await file.close();
      }
    });
  }

  async removeSession(owner: Owner, sessionId: string): Promise<number> {
    if (!isId(sessionId)) throw new AppError("INVALID_SESSION_ID");
    return this.#exclusively(owner, (folder) => this.#remove(folder, (name) => name.startsWith(`${sessionId}.`)));
  }

  async erase(owner: Owner): Promise<number> {
    return this.#exclusively(owner, (folder) => this.#remove(folder, () => true));
  }

  async residue(owner: Owner): Promise<number> {
    return this.#exclusively(owner, async (folder) => (await this.#names(folder)).length);
  }

  async #write(path: string, data: Uint8Array): Promise<void> {
    const temporary = `${path}${TEMPORARY}`;
    try {
      const file = await this.#fs.open(temporary, "create");
      try {
        await file.write(data, 0);
        await file.datasync();
      } finally {
        await file.close();
      }
      await this.#fs.rename(temporary, path);
    } catch (error) {
      await this.#fs.unlink(temporary).catch(() => undefined);
      throw error;
    }
  }

  async #remove(folder: string, goes: (name: string) => boolean): Promise<number> {
    const names = (await this.#names(folder)).filter(goes);
    for (const name of names) await this.#fs.unlink(join(folder, name));
    if (names.length > 0) await this.#fs.syncDirectory(folder);
    return names.filter((name) => !name.endsWith(TEMPORARY)).length;
  }

  async #sweep(journals: JournalDirectory): Promise<void> {
    for (const owner of (await this.#names(this.#dir)).filter((name) => HASH.test(name))) {
      const gone = new Map<string, boolean>();
      const names = await this.#names(join(this.#dir, owner));
      for (const sessionId of new Set(names.map((name) => name.slice(0, SESSION_CHARS))))
        gone.set(sessionId, isId(sessionId) && !(await this.#hasJournal(journals, sessionId)));
      const goes = (name: string) => name.endsWith(TEMPORARY) || gone.get(name.slice(0, SESSION_CHARS)) === true;
      await this.#remove(join(this.#dir, owner), goes);
    }
  }

  async #hasJournal(journals: JournalDirectory, sessionId: string): Promise<boolean> {
    for (const kind of ["journal", "packed"] as const) if ((await this.#fs.stat(journals.path(sessionId, kind))) !== null) return true;
    return false;
  }

  /** None of a folder that isn't there. */
  async #names(folder: string): Promise<string[]> {
    try {
      return await this.#fs.readdir(folder);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  #exclusively<T>(owner: Owner, work: (folder: string) => Promise<T>): Promise<T> {
    const hash = ownerHash(owner);
    return onStorage(() => this.#mutex.run(hash, () => work(join(this.#dir, hash))));
  }

  /** Only ids that were checked become part of a path. */
  #path(owner: Owner, sessionId: string, id: string): string {
    if (!isId(sessionId)) throw new AppError("INVALID_SESSION_ID");
    if (!HASH.test(id)) throw new AppError("INVALID_ID");
    return join(this.#dir, ownerHash(owner), `${sessionId}.${id}`);
  }
}
