// Scores a file of places and holds after a number of finished segments, until the process is killed. Prints "held" then.
// Arguments: the number of segments, and a run as JSON (`PlaceRun` in src/placeFiles/run/scorePlaceFile.ts).
import { built, replacing } from "./replacing.mjs";

const { openAtlas } = await built("openAtlas.js");
const { OUTPUT_DISK } = await built("placeFiles/run/outputDisk.js");
const { scorePlaceFile } = await built("placeFiles/run/scorePlaceFile.js");

const [segmentCount, run] = process.argv.slice(2).map((argument) => JSON.parse(argument));
let finishedCount = 0;

/** Returns the list of segments, whose next line is not written when enough segments are finished. */
const holding = (list) =>
  replacing(list, {
    async write(...parameters) {
      if (finishedCount++ < segmentCount) return await list.write(...parameters);
      process.stdout.write("held\n");
      setInterval(() => undefined, 2 ** 31 - 1); // keeps the process alive
      return await new Promise(() => undefined);
    },
  });

const disk = {
  ...OUTPUT_DISK,
  async open(path, flags) {
    const file = await OUTPUT_DISK.open(path, flags);
    return path.endsWith("segments.ndjson") ? holding(file) : file;
  },
};

await scorePlaceFile(await openAtlas("demo", { workers: 0 }), { ...run, disk });
