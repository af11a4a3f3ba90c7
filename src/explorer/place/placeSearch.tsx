import "./place.css";
import { useSignal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import citiesUrl from "./cities.generated.txt?url";
import { useExplorer } from "../context.ts";
import { formatLocation } from "../format.ts";
import { placePosition, type SelectedPlace } from "../state.ts";
import { parseCoordinates } from "./coordinates.ts";
import { type FoundCity, type Gazetteer, loadGazetteer } from "./gazetteer.ts";

const FOUND_COUNT_MAX = 8;

/** An entry of the list below the field. */
interface Suggestion {
  readonly place: SelectedPlace;
  readonly title: string;
  readonly note: string;
}

/**
 * Chooses a place by coordinates or by the name of a city: a combobox with a list, after the pattern of the ARIA Authoring
 * Practices. The gazetteer is loaded when the field first gets the focus.
 */
export function PlaceSearch() {
  const { state } = useExplorer();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const text = useSignal("");
  const suggestions = useSignal<readonly Suggestion[]>([]);
  const activeIndex = useSignal(-1);
  const isOpen = useSignal(false);
  const message = useSignal("");

  const suggest = async (wanted: string): Promise<void> => {
    activeIndex.value = -1;
    message.value = "";
    const parsed = parseCoordinates(wanted);
    if (wanted.trim() === "" || parsed.kind === "error") {
      // What is wrong is said when the user asks for the place: unfinished coordinates are not an error.
      suggestions.value = [];
      isOpen.value = false;
      return;
    }
    if (parsed.kind === "coordinates") {
      const place = { latitude: parsed.latitude, longitude: parsed.longitude };
      suggestions.value = [{ place, title: formatLocation(place), note: "coordinates" }];
      isOpen.value = true;
      return;
    }
    const gazetteer = await load();
    // The user may have continued to type.
    if (gazetteer === undefined || text.value !== wanted) return;
    suggestions.value = gazetteer.search(wanted, FOUND_COUNT_MAX).map(suggestionOf);
    isOpen.value = suggestions.value.length > 0;
  };

  const load = async (): Promise<Gazetteer | undefined> => {
    try {
      return await loadGazetteer(fetchCities);
    } catch {
      message.value = "The list of cities could not be loaded. Coordinates can be entered.";
      return undefined;
    }
  };

  const choose = ({ place, title }: Suggestion): void => {
    text.value = title;
    isOpen.value = false;
    message.value = "";
    state.place.value = place;
    state.map.value = placePosition(place, state.radiusKm.value, state.map.value.zoom);
  };

  const submit = async (): Promise<void> => {
    const wanted = text.value;
    const parsed = parseCoordinates(wanted);
    if (parsed.kind === "error") {
      message.value = parsed.message;
      return;
    }
    if (wanted.trim() === "") {
      message.value = "Enter coordinates or the name of a city.";
      return;
    }
    const active = suggestions.value[activeIndex.value];
    if (active === undefined) await suggest(wanted);
    const chosen = active ?? suggestions.value[0];
    if (chosen !== undefined) choose(chosen);
    else if (message.value === "") {
      message.value = `No city is called "${wanted.trim()}". Enter coordinates, or choose the place on the map.`;
    }
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const count = suggestions.value.length;
    if (event.key === "Escape") {
      if (isOpen.value) isOpen.value = false;
      else text.value = "";
      activeIndex.value = -1;
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && count > 0) {
      const step = event.key === "ArrowDown" ? 1 : -1;
      const from = activeIndex.value < 0 && step < 0 ? 0 : activeIndex.value;
      activeIndex.value = isOpen.value ? (from + step + count) % count : step < 0 ? count - 1 : 0;
      isOpen.value = true;
    } else {
      return;
    }
    event.preventDefault();
  };

  return (
    <form
      class="place-search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label for={id}>Place</label>
      <div class="place-search-row">
        <div class="combobox">
          <input
            ref={input}
            id={id}
            type="text"
            role="combobox"
            autocomplete="off"
            spellcheck={false}
            placeholder="City or coordinates"
            aria-autocomplete="list"
            aria-controls={`${id}-list`}
            aria-expanded={isOpen.value}
            aria-activedescendant={activeIndex.value < 0 ? undefined : `${id}-${activeIndex.value}`}
            aria-describedby={`${id}-message`}
            aria-invalid={message.value !== ""}
            value={text.value}
            onFocus={() => void load()}
            onInput={({ currentTarget }) => {
              text.value = currentTarget.value;
              void suggest(currentTarget.value);
            }}
            onKeyDown={onKeyDown}
            onBlur={() => (isOpen.value = false)}
          />
          <ul id={`${id}-list`} role="listbox" aria-label="Places" hidden={!isOpen.value}>
            {suggestions.value.map((suggestion, index) => (
              <li
                key={`${suggestion.title} ${suggestion.place.latitude} ${suggestion.place.longitude}`}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === activeIndex.value}
                // The field keeps the focus.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => choose(suggestion)}
              >
                {suggestion.title} <span class="note">{suggestion.note}</span>
              </li>
            ))}
          </ul>
        </div>
        <button type="submit">Show</button>
      </div>
      <p id={`${id}-message`} class="place-search-message" role={message.value === "" ? undefined : "alert"}>
        {message.value}
      </p>
      <p class="visually-hidden" role="status">
        {isOpen.value ? `${suggestions.value.length} ${suggestions.value.length === 1 ? "place" : "places"} found` : ""}
      </p>
    </form>
  );
}

function suggestionOf({ city, matchedName }: FoundCity): Suggestion {
  const { name, region, latitude, longitude } = city;
  return {
    place: { latitude, longitude, name: `${name}, ${region}` },
    title: `${name}, ${region}`,
    note: matchedName === undefined ? "" : matchedName,
  };
}

async function fetchCities(): Promise<string> {
  const response = await fetch(citiesUrl);
  if (!response.ok) throw new Error(`the list of cities was answered with status ${response.status}`);
  return response.text();
}
