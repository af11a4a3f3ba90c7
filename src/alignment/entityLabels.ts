/** Rules of the labels and probabilities of an entity's projection records, which a schema cannot express. */
import { FAULT_ITEM_COUNT_MAX, type FaultItem } from "../errors.ts";
import { quote } from "../validation/schemaErrors.ts";
import type { Entity } from "../contract/wireTypes.ts";

/** Number of labels that a column of 16-bit integers can distinguish. */
const LABEL_COUNT_MAX = 65_536;

/** Emissions of an entity in a projected year. */
export type ProjectionRecord = Entity["projected_emissions"][number];
type LabelMembers = Pick<ProjectionRecord, "label" | "probability">;

/** Returns whether the labels and probabilities of records are complete and consistent. */
export function hasValidLabels(records: readonly LabelMembers[]): boolean {
  for (const { label, probability } of records) {
    if (label !== undefined || probability !== undefined) return explainLabels(records, "").length === 0;
  }
  return true;
}

/**
 * Returns the errors of labels and probabilities:
 * - either all records of an entity have a label or none, and labels are not blank
 * - a probability needs a label, and all records of a label have the same probability or none
 * - all labels have a probability or none, and the probabilities are not all 0
 *
 * @param records values of the right types; `undefined` for records with an invalid label or probability, which are not
 *   compared with others
 * @param pointer location of the records
 */
export function explainLabels(records: readonly (LabelMembers | undefined)[], pointer: string): readonly FaultItem[] {
  const items: FaultItem[] = [];
  const add = (index: number, member: keyof LabelMembers, code: FaultItem["code"], detail: string): void => {
    if (items.length < FAULT_ITEM_COUNT_MAX) items.push({ pointer: `${pointer}/${index}/${member}`, code, detail });
  };
  const isLabeled = records.some((record) => record?.label !== undefined);
  /** The first record of each label. */
  const firstOfLabel = new Map<string, { readonly index: number; readonly probability: number | undefined }>();
  for (const [index, record] of records.entries()) {
    if (record === undefined) continue;
    const { label, probability } = record;
    if (label === undefined) {
      if (isLabeled) add(index, "label", "missing", "label must be given in all records of an entity or in none.");
      if (probability !== undefined) {
        add(index, "probability", "not_expected", "probability must not be given without a label.");
      }
      continue;
    }
    if (label.trim() === "") {
      add(index, "label", "empty", "label must not be blank.");
      continue;
    }
    const first = firstOfLabel.get(label);
    if (first === undefined) {
      firstOfLabel.set(label, { index, probability });
      if (firstOfLabel.size === LABEL_COUNT_MAX + 1) {
        add(index, "label", "too_many", `an entity must not have more than ${LABEL_COUNT_MAX} different labels.`);
      }
    } else if (first.probability !== probability) {
      const [code, accepted] =
        first.probability === undefined
          ? (["not_expected", "absent"] as const)
          : ([probability === undefined ? "missing" : "not_allowed", String(first.probability)] as const);
      const got = probability === undefined ? "" : ` (got ${probability})`;
      const detail = `probability must be ${accepted}, as in the first record with the label ${quote(label)}${got}.`;
      add(index, "probability", code, detail);
    }
  }
  const firsts = [...firstOfLabel.values()];
  const given = firsts.filter(({ probability }) => probability !== undefined);
  if (given.length === 0) return items;
  for (const { index, probability } of firsts) {
    if (probability !== undefined) continue;
    add(index, "probability", "missing", "probability must be given for all labels of an entity or for none.");
  }
  const [first] = given;
  const isComplete = !records.includes(undefined);
  if (isComplete && first !== undefined && given.every(({ probability }) => probability === 0)) {
    add(first.index, "probability", "out_of_range", "probability must be above 0 for at least one label.");
  }
  return items;
}
