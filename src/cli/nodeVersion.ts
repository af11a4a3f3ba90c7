/** The oldest version of Node.js that `engines` in package.json allows. */
const MAJOR_MIN = 22;
const MINOR_MIN = 12;

/** Returns why a version of Node.js, such as "22.12.0", cannot run the program; undefined if it can. */
export function nodeVersionError(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > MAJOR_MIN || (major === MAJOR_MIN && minor >= MINOR_MIN)) return undefined;
  return `Node.js ${MAJOR_MIN}.${MINOR_MIN} or later is required (this is ${version}).`;
}
