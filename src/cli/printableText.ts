/** U+0000 to U+001F and U+007F to U+009F. */
const CONTROL_CHARACTERS = /\p{Cc}/gu;

/**
 * Escapes the control characters of text from a file, as in `\u001b`. A terminal would execute them, and a line break would
 * divide a line.
 */
export function printable(text: string): string {
  return text.replaceAll(CONTROL_CHARACTERS, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}
