import { isDeepStrictEqual } from "node:util";
import { AppError } from "../../../platform/errors.js";
import { newId } from "../../../platform/ids.js";
import { assertSameLayout } from "../../../platform/storage-errors.js";
import {
  type Container,
  type ContainerDefinition,
  type CosmosClient,
  codeOf,
  conflictIn,
  type Item,
  type Operation,
} from "./cosmos-client.js";

/**
 * 2: entries may lie in the head. 3: the head's commits are lists. 4: what no query asks for is packed there. 5: a session's row names its
 * turns by place.
 */
const LAYOUT = 5;
const CONTAINER = "maitred";
const EVERYTHING = "/*";
const INSTALLATION = { id: "installation", partition: "installation" } as const;

/** What is looked for, and nothing else: an index costs each write. */
export const INDEXED = ["/partition/?", "/key/?", "/names/[]/?", "/dueAtMs/?"];

/** Under weaker ones another process would read what was before. */
const CONSISTENT = ["Strong", "BoundedStaleness"];

export interface Opened {
  readonly container: Container;
  /** Its id. */
  readonly installation: string;
}

/** The container, made where it is not there, and the installation's id; the first process makes it. @throws STORAGE_UNAVAILABLE */
export async function openContainer(client: CosmosClient, id: string): Promise<Opened> {
  const consistency = (await client.getDatabaseAccount()).resource?.consistencyPolicy ?? "";
  if (!CONSISTENT.includes(consistency))
    throw new AppError("STORAGE_UNAVAILABLE", {
      detail: `The account of Cosmos DB has the consistency ${consistency}: one process would not see what another has written.`,
      hint: "Set the account's default consistency to Strong (or to Bounded Staleness, with one region), and start again.",
    });
  const definition = {
    id: CONTAINER,
    partitionKey: { paths: ["/partition"] },
    indexingPolicy: { includedPaths: INDEXED.map((path) => ({ path })), excludedPaths: [{ path: EVERYTHING }] },
  };
  const { database } = await orMadeMeanwhile(() => client.databases.createIfNotExists({ id }));
  const { container, resource } = await orMadeMeanwhile(() => database.containers.createIfNotExists(definition));
  if (resource !== undefined) assertFinds(resource, definition);
  for (;;) {
    const found = await readInstallation(container);
    if (found.item !== undefined) {
      assertSameLayout("What Cosmos DB holds is", found.item.layout, LAYOUT, "name another database with COSMOS_DATABASE");
      return { container, installation: String(found.id) };
    }
    const resourceBody = { ...INSTALLATION, installation: newId(), layout: LAYOUT };
    conflictIn((await container.items.batch([{ operationType: "Create", resourceBody }], INSTALLATION.partition)).result ?? []);
  }
}

/** Somebody else may have made it. */
function assertFinds({ partitionKey, indexingPolicy }: ContainerDefinition, wanted: ContainerDefinition): void {
  const indexed = indexingPolicy?.includedPaths?.map(({ path }) => path) ?? [EVERYTHING];
  const lacks = indexed.includes(EVERYTHING) ? [] : INDEXED.filter((path) => !indexed.includes(path));
  if (lacks.length === 0 && isDeepStrictEqual(partitionKey?.paths, wanted.partitionKey?.paths)) return;
  const what = lacks.length > 0 ? `no index holds ${lacks.join(", ")}` : "by another partition key";
  throw new AppError("STORAGE_UNAVAILABLE", {
    detail: `The container ${CONTAINER} of Cosmos DB was made otherwise: ${what}.`,
    hint: `Give it the partition key /partition and an index of ${INDEXED.join(", ")}; or take it away, and it is made at the next start.`,
  });
}

/** The client looks, and makes: of two that start at once one is told of a conflict, and finds it then. */
async function orMadeMeanwhile<T>(find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (codeOf(error) !== 409) throw error;
    return find();
  }
}

async function readInstallation(container: Container): Promise<{ readonly item: Item | undefined; readonly id: unknown }> {
  const { resource } = await container.item(INSTALLATION.id, INSTALLATION.partition).read();
  return { item: resource, id: resource?.installation };
}

/** Writes to what was opened. False where it is gone, or another one. */
export async function beatOf({ container, installation }: Opened): Promise<boolean> {
  const { item, id } = await readInstallation(container);
  if (item === undefined || id !== installation) return false;
  const resourceBody = { ...item, beatAtMs: Date.now() };
  const write: Operation = { operationType: "Replace", id: INSTALLATION.id, ifMatch: String(item._etag), resourceBody };
  // Others may do the same at the same time, which is as good.
  conflictIn((await container.items.batch([write], INSTALLATION.partition)).result ?? []);
  return true;
}
