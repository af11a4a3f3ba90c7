import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { formatCount } from "../format.ts";
import type { ListModel } from "./listModel.ts";
import { LIST_SIZE_BYTES_MAX, PLACE_COUNT_MAX } from "./placeList.ts";

const EXAMPLE = `name,latitude,longitude
Djibouti,11.589,43.145
Manila,14.604,120.982
Cape Town,-33.926,18.423`;

/** Takes a list of places: pasted text, or a file. */
export function ListInput({ model }: { readonly model: ListModel }) {
  const id = useId();
  const text = useSignal("");
  const upload = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > LIST_SIZE_BYTES_MAX) {
      model.refuse(`The file must be smaller than ${LIST_SIZE_BYTES_MAX >> 20} MiB.`);
      return;
    }
    try {
      model.read(new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()));
    } catch {
      model.refuse("The file must be CSV in UTF-8. In a spreadsheet, save it as CSV UTF-8.");
    }
  };
  return (
    <form
      class="list-input"
      onSubmit={(event) => {
        event.preventDefault();
        model.read(text.value);
      }}
    >
      <p class="note">
        CSV with a header and columns for latitude and longitude, as copied from a spreadsheet; up to{" "}
        {formatCount(PLACE_COUNT_MAX)} places. The list stays in this tab: only coordinates are sent, to compute values.
      </p>
      <label for={`${id}-text`}>Paste a list</label>
      <textarea
        id={`${id}-text`}
        rows={6}
        spellcheck={false}
        placeholder={EXAMPLE}
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      <div class="list-actions">
        <button type="submit">Use the list</button>
        <button type="button" onClick={() => (text.value = EXAMPLE)}>
          Insert an example
        </button>
      </div>
      <label for={`${id}-file`}>or choose a CSV file</label>
      <input
        id={`${id}-file`}
        type="file"
        accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values,text/plain"
        onChange={({ currentTarget }) => {
          void upload(currentTarget.files?.[0]);
          // The same file can be chosen again after it has been corrected.
          currentTarget.value = "";
        }}
      />
      <RefusedNotice model={model} />
    </form>
  );
}

/** Says why a list was not accepted; if its columns are unclear, the user chooses them. */
function RefusedNotice({ model }: { readonly model: ListModel }) {
  const id = useId();
  const latitude = useSignal("");
  const longitude = useSignal("");
  const refused = model.refused.value;
  if (refused === undefined) return null;
  const choices = [
    ["Latitude", latitude],
    ["Longitude", longitude],
  ] as const;
  return (
    <div class="failure" role="alert">
      {refused.errors.map((error) => (
        <p key={error}>{error}</p>
      ))}
      {refused.columns.length < 2 ? null : (
        <div class="column-choices">
          {choices.map(([title, chosen]) => (
            <div key={title}>
              <label for={`${id}-${title}`}>{title} column</label>
              <select
                id={`${id}-${title}`}
                value={chosen.value}
                onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}
              >
                <option value="">Choose</option>
                {refused.columns.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </div>
          ))}
          <button
            type="button"
            disabled={latitude.value === "" || longitude.value === ""}
            onClick={() => model.read(undefined, { latitude: latitude.value, longitude: longitude.value })}
          >
            Use these columns
          </button>
        </div>
      )}
    </div>
  );
}
