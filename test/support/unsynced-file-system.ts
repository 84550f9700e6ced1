import { dirname, join } from "node:path";
import { errnoOf, type FileSystem, nodeFileSystem, type OpenFile } from "../../src/platform/file-system.js";

interface Inode {
  readonly identity: string | null;
  /** What this process sees. */
  content: Buffer;
  /** What a crash leaves: the content at the last datasync. */
  durable: Buffer;
  /** Where the durable content stands on the real disk; null until the directory that names it is synced. */
  realPath: string | null;
}

type NameChange =
  | { readonly kind: "link"; readonly path: string; readonly inode: Inode }
  | { readonly kind: "unlink"; readonly path: string };

/**
 * A disk that forgets at a crash what was not synced. Unsynced bytes, and names that no directory sync has made
 * durable, live in this process's memory alone: a SIGKILL loses them, as a power cut would; so does `crash()`, after
 * which a new one over the same directory sees what is left. Works over a real directory, in a child process as well.
 */
export class UnsyncedFileSystem implements FileSystem {
  /** Path → what this process sees there; null: unlinked. Paths that are not in it are as on the real disk. */
  readonly #names = new Map<string, Inode | null>();
  #pending: NameChange[] = [];
  #made = 0;
  #syncing: Promise<void> = Promise.resolve();
  #crashed = false;

  /** From here on nothing reaches the disk, and every call fails. */
  crash(): void {
    this.#crashed = true;
  }

  async open(path: string, mode: Parameters<FileSystem["open"]>[1]): Promise<OpenFile> {
    this.#alive();
    let inode = await this.#lookUp(path);
    if (inode === null) {
      if (mode !== "create") throw noEntry(path);
      inode = { identity: `made here: ${this.#made++}`, content: Buffer.alloc(0), durable: Buffer.alloc(0), realPath: null };
      this.#link(path, inode);
    } else if (mode === "create") inode.content = Buffer.alloc(0);
    return this.#file(inode);
  }

  #file(inode: Inode): OpenFile {
    return {
      read: async (position, length) => {
        this.#alive();
        return Buffer.from(inode.content.subarray(position, position + length));
      },
      write: async (data, position) => {
        this.#alive();
        const size = Math.max(inode.content.length, position + data.byteLength);
        const content = Buffer.alloc(size);
        inode.content.copy(content);
        content.set(data, position);
        inode.content = content;
      },
      truncate: async (length) => {
        this.#alive();
        inode.content = Buffer.concat([inode.content.subarray(0, length)]);
      },
      datasync: async () => {
        this.#alive();
        const { content } = inode;
        if (inode.realPath !== null) await bring(inode.realPath, inode.durable, content);
        inode.durable = content;
      },
      size: async () => {
        this.#alive();
        return inode.content.length;
      },
      close: async () => undefined,
    };
  }

  async rename(from: string, to: string): Promise<void> {
    const inode = await this.#lookUp(from);
    if (inode === null) throw noEntry(from);
    await this.#lookUp(to);
    this.#link(to, inode);
    this.#names.set(from, null);
    this.#pending.push({ kind: "unlink", path: from });
  }

  async unlink(path: string): Promise<void> {
    if ((await this.#lookUp(path)) === null) throw noEntry(path);
    this.#names.set(path, null);
    this.#pending.push({ kind: "unlink", path });
  }

  async readdir(path: string): Promise<string[]> {
    this.#alive();
    const names = new Set(await nodeFileSystem.readdir(path));
    for (const [each, inode] of this.#names) {
      if (dirname(each) !== path) continue;
      const name = each.slice(path.length + 1);
      if (inode === null) names.delete(name);
      else names.add(name);
    }
    return [...names];
  }

  mkdir(path: string): Promise<void> {
    this.#alive();
    return nodeFileSystem.mkdir(path);
  }

  async stat(path: string): ReturnType<FileSystem["stat"]> {
    this.#alive();
    if (!this.#names.has(path) && (await nodeFileSystem.stat(path)) === null) return null;
    const inode = await this.#lookUp(path);
    return inode === null ? null : { size: inode.content.length, mtimeMs: 0 };
  }

  async identity(path: string): Promise<string | null> {
    this.#alive();
    const known = this.#names.get(path);
    return known === undefined ? nodeFileSystem.identity(path) : (known?.identity ?? null);
  }

  /** One after the other: who finds that another has taken its names up must not go on before they are durable. */
  syncDirectory(path: string): Promise<void> {
    const turn = this.#syncing.then(() => this.#bringNames(path));
    this.#syncing = turn.catch(() => undefined);
    return turn;
  }

  async #bringNames(path: string): Promise<void> {
    this.#alive();
    const here = this.#pending.filter((change) => dirname(change.path) === path);
    this.#pending = this.#pending.filter((change) => dirname(change.path) !== path);
    // Links first: a rename whose old name is gone before the new one is there could lose both.
    for (const change of here) if (change.kind === "link") await this.#materialise(change.path, change.inode);
    for (const change of here)
      if (change.kind === "unlink" && this.#names.get(change.path) == null) await nodeFileSystem.unlink(change.path).catch(unlessMissing);
  }

  async #materialise(path: string, inode: Inode): Promise<void> {
    if (this.#names.get(path) !== inode) return;
    const aside = join(dirname(path), `.unsynced-${process.pid}`);
    await bring(aside, Buffer.alloc(0), inode.durable, "create");
    await nodeFileSystem.rename(aside, path);
    inode.realPath = path;
  }

  #link(path: string, inode: Inode): void {
    this.#names.set(path, inode);
    this.#pending.push({ kind: "link", path, inode });
  }

  async #lookUp(path: string): Promise<Inode | null> {
    this.#alive();
    const known = this.#names.get(path);
    if (known !== undefined) return known;
    if ((await nodeFileSystem.stat(path)) === null) return null;
    const file = await nodeFileSystem.open(path, "read");
    const content = await file.read(0, await file.size());
    await file.close();
    const identity = await nodeFileSystem.identity(path);
    // Another look-up of the same path may have been faster: one inode for all.
    const raced = this.#names.get(path);
    if (raced !== undefined) return raced;
    const inode = { identity, content, durable: content, realPath: path };
    this.#names.set(path, inode);
    return inode;
  }

  #alive(): void {
    if (this.#crashed) throw Object.assign(new Error("EIO: this disk has crashed"), { code: "EIO" });
  }
}

/** Makes the file hold `to`, of which it holds `from`: writes from the first difference on, then cuts. */
async function bring(path: string, from: Buffer, to: Buffer, mode: "update" | "create" = "update"): Promise<void> {
  const shared = Math.min(from.length, to.length);
  const same = from.compare(to, 0, shared, 0, shared) === 0 ? shared : 0;
  const file = await nodeFileSystem.open(path, mode);
  try {
    await file.write(to.subarray(same), same);
    await file.truncate(to.length);
  } finally {
    await file.close();
  }
}

function noEntry(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file, '${path}'`), { code: "ENOENT" });
}

function unlessMissing(error: unknown): void {
  if (errnoOf(error) !== "ENOENT") throw error;
}
