import { AppError } from "../../../platform/errors.js";
import { newId } from "../../../platform/ids.js";
import { assertKnownLayout } from "../../../platform/layout-version.js";
import { type Container, type CosmosClient, codeOf, conflictIn, type Item } from "./cosmos-client.js";

/** 2: entries may lie in the head. What 1 wrote is read too. */
export const LAYOUT = 2;
const CONTAINER = "maitred";
const INSTALLATION = { id: "installation", partition: "installation" } as const;

/** What is looked for, and nothing else: an index costs each write. */
export const INDEXED = ["/partition/?", "/key/?", "/names/[]/?", "/dueAtMs/?"];

/** Under weaker ones another process would read what was before. */
const CONSISTENT = ["Strong", "BoundedStaleness"];

/** The container, made where it is not there, and the installation's id; the first process makes it. @throws STORAGE_UNAVAILABLE */
export async function openContainer(
  client: CosmosClient,
  id: string,
): Promise<{ readonly container: Container; readonly installation: string }> {
  const consistency = (await client.getDatabaseAccount()).resource?.consistencyPolicy ?? "";
  if (!CONSISTENT.includes(consistency))
    throw new AppError("STORAGE_UNAVAILABLE", {
      detail: `The account of Cosmos DB has the consistency ${consistency}: one process would not see what another has written.`,
      hint: "Set the account's default consistency to Strong (or to Bounded Staleness, with one region), and start again.",
    });
  const definition = {
    id: CONTAINER,
    partitionKey: { paths: ["/partition"] },
    indexingPolicy: { includedPaths: INDEXED.map((path) => ({ path })), excludedPaths: [{ path: "/*" }] },
  };
  const { database } = await orMadeMeanwhile(() => client.databases.createIfNotExists({ id }));
  const { container } = await orMadeMeanwhile(() => database.containers.createIfNotExists(definition));
  for (;;) {
    const found = await readInstallation(container);
    if (found.item !== undefined) {
      assertKnownLayout("What Cosmos DB holds is", found.item.layout, LAYOUT, "name another database with COSMOS_DATABASE");
      return { container, installation: String(found.id) };
    }
    const resourceBody = { ...INSTALLATION, installation: newId(), layout: LAYOUT };
    conflictIn((await container.items.batch([{ operationType: "Create", resourceBody }], INSTALLATION.partition)).result ?? []);
  }
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

export async function readInstallation(container: Container): Promise<{ readonly item: Item | undefined; readonly id: unknown }> {
  const { resource } = await container.item(INSTALLATION.id, INSTALLATION.partition).read();
  return { item: resource, id: resource?.installation };
}
