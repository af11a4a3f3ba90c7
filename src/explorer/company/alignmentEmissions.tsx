/** The editable table of emissions and revenue by year. */
import { useContext } from "preact/hooks";
import {
  type AlignmentForm,
  type BaselineText,
  EMPTY_PROJECTION,
  hasLabels,
  type ProjectionText,
  SCOPES,
} from "./alignmentForm.ts";
import { CellField, FaultItems, FieldErrors, focusField, itemsWithin } from "./fields.tsx";

const SCOPE_NAMES = { scope1: "Scope 1", scope2: "Scope 2", scope3: "Scope 3" } as const;
/** Pointer of the baseline year. */
export const BASELINE = "/0/data/0";

interface TableProps {
  readonly form: AlignmentForm;
  readonly edit: (change: Partial<AlignmentForm>) => void;
  readonly editBaseline: (change: Partial<BaselineText>) => void;
}

export function EmissionsTable({ form, edit, editBaseline }: TableProps) {
  const { baseline, projections } = form;
  const isLabeled = hasLabels(form);
  const items = useContext(FaultItems);
  const setProjections = (rows: readonly ProjectionText[]): void => edit({ projections: rows });
  const replaceRow = (index: number, change: Partial<ProjectionText>): void =>
    setProjections(projections.map((row, other) => (other === index ? { ...row, ...change } : row)));
  const columnCount = isLabeled ? 8 : 6;
  return (
    <fieldset>
      <legend>Emissions and revenue</legend>
      <p class="hint">
        Emissions in any unit that is the same in all years, such as t CO2e per year. Revenue in any currency, in the
        prices of the baseline year. Leave unknown values blank: 0 means no emissions.
      </p>
      <div class="table-scroll" role="region" aria-label="Emissions and revenue" tabIndex={0}>
        <table class="edit-table">
          <thead>
            <tr>
              {isLabeled ? <th scope="col">Label</th> : null}
              <th scope="col">Year</th>
              {SCOPES.map((scope) => (
                <th key={scope} scope="col">
                  {SCOPE_NAMES[scope]}
                </th>
              ))}
              <th scope="col">Revenue</th>
              {isLabeled ? <th scope="col">Probability</th> : null}
              <th scope="col">
                <span class="visually-hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            <tr class="baseline">
              {isLabeled ? (
                <th scope="row" class="label-cell">
                  Baseline
                </th>
              ) : null}
              <YearCells row={baseline} rowName="Baseline" pointer={BASELINE} edit={editBaseline} />
              {isLabeled ? <td /> : null}
              <td class="row-kind remove-cell">{isLabeled ? "" : "Baseline"}</td>
            </tr>
            <RowErrors pointer={BASELINE} columnCount={columnCount} skip={`${BASELINE}/financials/`} />
            {projections.flatMap((row, index) => {
              const pointer = `/0/projected_emissions/${index}`;
              const rowName = `Projection ${index + 1}`;
              const errorId = rowErrorId(pointer);
              const change = (part: Partial<ProjectionText>): void => replaceRow(index, part);
              return [
                <tr key={pointer}>
                  {isLabeled ? (
                    <td class="label-cell" data-column="Label">
                      <CellField
                        location={`${pointer}/label`}
                        label={`${rowName}, label`}
                        errorId={errorId}
                        isText
                        value={row.label}
                        onInput={(label) => change({ label })}
                      />
                    </td>
                  ) : null}
                  <YearCells row={row} rowName={rowName} pointer={pointer} edit={change} />
                  {isLabeled ? (
                    <td data-column="Probability">
                      <CellField
                        location={`${pointer}/probability`}
                        label={`${rowName}, probability`}
                        errorId={errorId}
                        value={row.probability}
                        onInput={(probability) => change({ probability })}
                      />
                    </td>
                  ) : null}
                  <td class="remove-cell">
                    <button
                      type="button"
                      class="remove"
                      aria-label={`Remove ${rowName}`}
                      disabled={projections.length === 1}
                      onClick={() => {
                        setProjections(projections.filter((_, other) => other !== index));
                        // The button disappears with its row.
                        focusField(`/0/projected_emissions/${Math.max(index - 1, 0)}/year`);
                      }}
                    >
                      ×
                    </button>
                  </td>
                </tr>,
                <RowErrors key={`${pointer}-errors`} pointer={pointer} columnCount={columnCount} />,
              ];
            })}
          </tbody>
        </table>
      </div>
      <div class="buttons">
        <button type="button" onClick={() => setProjections([...projections, nextProjection(projections)])}>
          Add a year
        </button>
        <button
          type="button"
          aria-pressed={isLabeled}
          onClick={() =>
            setProjections(projections.map((row) => ({ ...row, label: isLabeled ? "" : "target", probability: "" })))
          }
        >
          Several projections
        </button>
      </div>
      {isLabeled ? (
        <p class="hint">
          Rows with the same label form a projection, such as “target” and “trajectory”. Either all labels have a
          probability, or none.
        </p>
      ) : null}
      <FieldErrors
        id="alignment-projections-error"
        items={items.filter(({ pointer }) => pointer === "/0/projected_emissions")}
      />
    </fieldset>
  );
}

/** Returns a row five years after the last one, with its label. */
function nextProjection(rows: readonly ProjectionText[]): ProjectionText {
  const last = rows.at(-1);
  const year = Number(last?.year);
  return {
    ...EMPTY_PROJECTION,
    year: Number.isInteger(year) && year > 0 ? String(year + 5) : "",
    label: last?.label ?? "",
    probability: last?.probability ?? "",
  };
}

interface YearCellsProps {
  readonly row: Pick<BaselineText, "year" | "scope1" | "scope2" | "scope3" | "revenue">;
  readonly rowName: string;
  readonly pointer: string;
  readonly edit: (change: Partial<Pick<BaselineText, "year" | "scope1" | "scope2" | "scope3" | "revenue">>) => void;
}

function YearCells({ row, rowName, pointer, edit }: YearCellsProps) {
  const errorId = rowErrorId(pointer);
  return (
    <>
      <td class="year-cell" data-column="Year">
        <CellField
          location={`${pointer}/year`}
          label={`${rowName}, year`}
          errorId={errorId}
          value={row.year}
          onInput={(year) => edit({ year })}
        />
      </td>
      {SCOPES.map((scope) => (
        <td key={scope} data-column={SCOPE_NAMES[scope]}>
          <CellField
            location={`${pointer}/emissions/${scope}`}
            label={`${rowName}, ${SCOPE_NAMES[scope].toLowerCase()}`}
            errorId={errorId}
            value={row[scope]}
            onInput={(value) => edit({ [scope]: value })}
          />
        </td>
      ))}
      <td class="revenue-cell" data-column="Revenue">
        <CellField
          location={`${pointer}/financials/revenue`}
          label={`${rowName}, revenue`}
          errorId={errorId}
          value={row.revenue}
          onInput={(revenue) => edit({ revenue })}
        />
      </td>
    </>
  );
}

function rowErrorId(pointer: string): string {
  return `errors${pointer.replaceAll("/", "-")}`;
}

interface RowErrorsProps {
  readonly pointer: string;
  readonly columnCount: number;
  /** Start of pointers that have a field outside the table. */
  readonly skip?: string;
}

/** The errors of a row of the table. */
function RowErrors({ pointer, columnCount, skip }: RowErrorsProps) {
  const items = itemsWithin(useContext(FaultItems), pointer).filter(
    (item) => skip === undefined || item.pointer?.startsWith(skip) !== true || item.pointer.endsWith("/revenue"),
  );
  if (items.length === 0) return null;
  return (
    <tr class="row-errors">
      <td colSpan={columnCount}>
        <FieldErrors id={rowErrorId(pointer)} items={items} />
      </td>
    </tr>
  );
}
