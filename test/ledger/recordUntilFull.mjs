// Records entries until the storage fails. Prints the outcome of each entry as a JSON line and finally the
// state of the ledger. Argument: the data folder. The calling test limits the file size.
import { randomUUID } from "node:crypto";
import { writeSync } from "node:fs";

const { openLedger } = await import(new URL("../../dist/ledger/openLedger.js", import.meta.url).href);
const print = (value) => writeSync(1, `${JSON.stringify(value)}\n`);

const ledger = await openLedger({ data: process.argv[2] });
const { accountId } = await ledger.createAccount({ name: "Full disk" });
const { key } = await ledger.createKey({ accountId });
const { customer } = await ledger.registerCustomer({ accountId, internalId: "one" });
const { customerId } = customer;
const { keyId } = key;

while (ledger.failure === undefined) {
  const batch = Array.from({ length: 16 }, async (_, i) => {
    const receipt = randomUUID();
    const request = { accountId, customerId, meter: "hazard_values", units: i + 1, receipt };
    const outcome = await ledger.record({ ...request, keyId, route: "/" }).then(
      () => "ok",
      (error) => (error.code === "usage_not_recorded" ? "unknown" : String(error.stack)),
    );
    print({ ...request, outcome });
  });
  await Promise.all(batch);
}
const failed = await ledger.failed;
const lateEntry = { receipt: randomUUID(), accountId, customerId, keyId, meter: "hazard_values", units: 1, route: "/" };
const codeOf = (promise) =>
  promise.then(
    () => "resolved",
    (error) => error.code,
  );
print({
  failure: failed.code,
  record: await codeOf(ledger.record(lateEntry)),
  findKey: await codeOf(ledger.findKey(new Uint8Array(32))),
});
await ledger.close();
