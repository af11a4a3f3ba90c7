// The campaigns: tests that repeat kills, edits, races, attacks or random cases. `npm test` runs one round of each;
// `npm run test:campaigns` runs them in full.
import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * Each campaign with its test files and the variables that set its full size. `changes`: the files are too slow for
 * `npm test`, which runs them only if something in these folders has changed.
 */
export const CAMPAIGNS = [
  {
    name: "kills of the service and of PostgreSQL",
    files: ["test/durability/crashRecovery.system.test.ts"],
    sizes: { ISOTHERM_DURABILITY_KILLS: 20 },
  },
  {
    name: "power loss",
    files: ["test/durability/powerLoss.system.test.ts"],
    sizes: { ISOTHERM_DURABILITY_REQUESTS: 400, ISOTHERM_DURABILITY_STATES: 400 },
  },
  {
    name: "disk errors",
    files: ["test/durability/failingDisk.system.test.ts"],
    sizes: { ISOTHERM_DURABILITY_FAILURES: 20 },
  },
  {
    name: "hung storage, lost connections and clocks",
    files: ["hungStorage", "lostBatches", "anchor", "connections", "clock"].map(durability),
    sizes: {},
  },
  {
    name: "edits of the ledger",
    files: [durability("tampering"), durability("forgedRecords")],
    sizes: { ISOTHERM_DURABILITY_EDITS: 1000 },
  },
  {
    name: "interrupted prunings",
    files: [durability("pruning")],
    sizes: { ISOTHERM_DURABILITY_PRUNINGS: 50 },
  },
  {
    name: "races of registrations",
    files: [durability("registration")],
    sizes: { ISOTHERM_DURABILITY_RACES: 20, ISOTHERM_DURABILITY_RACERS: 1000 },
  },
  {
    name: "races in the ledger",
    files: ["test/ledger/sqlite.system.test.ts", "test/ledger/postgres.system.test.ts"],
    sizes: { ISOTHERM_RACES: 20, ISOTHERM_KILLS: 10 },
  },
  {
    name: "repeated requests",
    files: [durability("idempotency")],
    sizes: { ISOTHERM_DURABILITY_REPETITIONS: 20 },
  },
  {
    name: "revoked keys",
    files: [durability("revocation")],
    sizes: { ISOTHERM_DURABILITY_REVOCATIONS: 20 },
  },
  {
    name: "isolation of accounts, confidential data",
    files: [durability("accountIsolation"), durability("confidentiality")],
    sizes: { ISOTHERM_DURABILITY_CANARIES: 50 },
  },
  {
    name: "rolling upgrade",
    files: [durability("rollingUpgrade")],
    sizes: {},
  },
  {
    name: "killed runs of isotherm portfolio",
    files: ["test/cli/portfolioProcesses.system.test.ts"],
    sizes: { ISOTHERM_PORTFOLIO_KILLS: 10, ISOTHERM_PORTFOLIO_PLACES: 1_000_000 },
  },
  {
    name: "killed ingests",
    files: ["test/ingest/interruption.system.test.ts"],
    sizes: { ISOTHERM_KILLED_INGESTS: 10 },
  },
  {
    name: "attacks beside honest clients",
    files: ["test/attack/mixedLoad.system.test.ts"],
    sizes: { ISOTHERM_ATTACK_FULL: 1 },
  },
  {
    name: "attacks on connections, keys and pipelining",
    files: ["clients", "connections", "pipelining", "requestHead", "ledgerReadiness", "silentAtlas"].map(attack),
    sizes: { ISOTHERM_ATTACK_FULL: 1 },
  },
  {
    name: "attacks on memory and on the event loop",
    files: ["bodies", "memory", "parsing", "csvReaders", "coldCircles", "usageReports"].map(attack),
    sizes: { ISOTHERM_ATTACK_FULL: 1 },
    changes: ["test/attack"],
  },
  {
    name: "query plans of a large ledger",
    files: [attack("usagePlans")],
    sizes: { ISOTHERM_ATTACK_FULL: 1 },
  },
  {
    name: "malformed requests and bodies",
    files: ["malformedRequests", "malformedBodies"].map(soak),
    sizes: { ISOTHERM_SOAK_MALFORMED_REQUESTS: 20_000, ISOTHERM_SOAK_MALFORMED_BODIES: 20_000 },
    changes: ["test/soak"],
  },
  {
    name: "load, abusive clients, shutdowns under load",
    files: ["load", "abusiveClients", "shutdown"].map(soak),
    sizes: {
      ISOTHERM_SOAK_SECONDS: 120,
      ISOTHERM_SOAK_OVERLOAD_SECONDS: 20,
      ISOTHERM_SOAK_ABUSIVE_CLIENTS: 1000,
      ISOTHERM_SOAK_STOPS: 20,
    },
    changes: ["test/soak"],
  },
  {
    name: "memory of the library",
    files: ["test/memory/memory.system.test.ts"],
    sizes: { ISOTHERM_MEMORY_ROUNDS: 20, ISOTHERM_MEMORY_PLACES: 50_000 },
  },
  {
    name: "requests generated from the OpenAPI document",
    files: ["test/host/openapi/generatedRequests.system.test.ts"],
    sizes: { ISOTHERM_OPENAPI_VALID: 20_000, ISOTHERM_OPENAPI_MUTATED: 50_000 },
  },
  {
    name: "damaged map files",
    files: ["test/ingest/readers/readerFuzz.exhaustive.test.ts", "test/ingest/readers/craftedHeaders.system.test.ts"],
    sizes: { ISOTHERM_FUZZ_FILES: 5000, ISOTHERM_CRAFTED_HEADERS: 2000 },
  },
  {
    name: "map files of GDAL",
    files: ["test/ingest/readers/gdalMatrix.system.test.ts"],
    sizes: {},
    changes: ["test/ingest/readers", "src/ingest/readers"],
  },
  {
    name: "circles, rims and partitions",
    files: [
      "test/kernel/wholeCircles.exhaustive.test.ts",
      "test/kernel/rimCells.exhaustive.test.ts",
      "test/atlas/partitionInvariance.exhaustive.test.ts",
      "test/hazard/scoring/scorePlaces.exhaustive.test.ts",
      "test/places/run/scorePlaceFile.exhaustive.test.ts",
      "test/browser/core.system.test.ts",
    ],
    sizes: {
      ISOTHERM_CIRCLES: 2000,
      ISOTHERM_RIM_CELLS: 3_000_000,
      ISOTHERM_CUTS: 25,
      ISOTHERM_SCORED_PLACES: 10_000,
      ISOTHERM_PLACES_SAMPLES: 10_000,
      ISOTHERM_GOLDEN_QUERIES: 20_000,
    },
  },
  {
    name: "random entities, portfolios and companies",
    files: [
      "test/kernel/alignmentReference.exhaustive.test.ts",
      "test/kernel/alignmentLaws.exhaustive.test.ts",
      "test/alignment/oracleEntities.exhaustive.test.ts",
      "test/holdings/portfolioEntities.exhaustive.test.ts",
      "test/holdings/manyRandomPortfolios.exhaustive.test.ts",
      "test/company/fuzz.exhaustive.test.ts",
      "test/company/oracle.exhaustive.test.ts",
      "test/company/laws.test.ts",
    ],
    sizes: {
      ISOTHERM_ALIGNMENT_ROWS: 300_000,
      ISOTHERM_ALIGNMENT_LAW_ROWS: 2_000_000,
      ISOTHERM_ENTITY_PORTFOLIOS: 2000,
      ISOTHERM_PORTFOLIOS: 24_000,
      ISOTHERM_COMPANY_FUZZ: 50_000,
      ISOTHERM_COMPANY_REQUESTS: 5000,
      ISOTHERM_COMPANY_LAWS: 4000,
    },
  },
  {
    name: "laws of the oracles",
    files: ["test/oracle/alignment2/laws.exhaustive.test.ts", "test/oracle/company2/laws.exhaustive.test.ts"],
    sizes: {},
    changes: ["test/oracle"],
  },
  {
    name: "workload of the benchmark",
    files: ["test/bench/workload.exhaustive.test.ts"],
    sizes: {},
    changes: ["test/bench", "bench"],
  },
];

function durability(name) {
  return `test/durability/${name}.system.test.ts`;
}
function attack(name) {
  return `test/attack/${name}.system.test.ts`;
}
function soak(name) {
  return `test/soak/${name}.system.test.ts`;
}

/**
 * Returns the files that differ from the branch that this one is based on, or from the last commit but one if there is no
 * such branch; undefined without git.
 */
export function changedFiles() {
  const git = (...words) =>
    execFileSync("git", words, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    const head = git("rev-parse", "HEAD");
    let base = "HEAD~1";
    try {
      const common = git("merge-base", "HEAD", "origin/HEAD");
      if (common !== head) base = common;
    } catch {
      // There is no remote branch.
    }
    return git("diff", "--name-only", base).split("\n");
  } catch {
    return undefined;
  }
}

const isBelow = (file, folder) => file.startsWith(`${folder}/`);

/** Returns the test files that `npm test` leaves out, because nothing that they depend on has changed. */
export function filesOutsideGate(changed = changedFiles() ?? []) {
  return CAMPAIGNS.filter(
    ({ changes }) => changes !== undefined && !changed.some((file) => changes.some((folder) => isBelow(file, folder))),
  ).flatMap(({ files }) => files);
}

/** Returns the folders with changed campaigns: `npm test` also runs their tests that inject a fault. */
export function changedCampaignFolders(changed = changedFiles() ?? []) {
  const folders = new Set(CAMPAIGNS.flatMap(({ files }) => files.map(dirname)));
  return [...folders].filter((folder) => changed.some((file) => isBelow(file, folder) || isBelow(file, "test/faults")));
}
