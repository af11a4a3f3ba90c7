/** Words that are written in more than one way, and the form that the keys have. */
const WORD_FORMS: ReadonlyMap<string, string> = new Map<string, string>([
  // British spellings.
  ["aluminium", "aluminum"],
  ["catalogue", "catalog"],
  ["centre", "center"],
  ["centres", "centers"],
  ["defence", "defense"],
  ["fertiliser", "fertilizer"],
  ["fertilisers", "fertilizers"],
  ["fibre", "fiber"],
  ["fibres", "fibers"],
  ["homogenised", "homogenized"],
  ["jewellery", "jewelry"],
  ["labour", "labor"],
  ["orthopaedic", "orthopedic"],
  ["organisation", "organization"],
  ["organisations", "organizations"],
  ["programme", "program"],
  ["programmes", "programs"],
  ["specialised", "specialized"],
  ["tyre", "tire"],
  ["tyres", "tires"],
  // Compounds and abbreviations.
  ["ecommerce", "e commerce"],
  ["healthcare", "health care"],
  ["homebuilders", "home builders"],
  ["homebuilding", "home building"],
  ["multiline", "multi line"],
  ["multiutilities", "multi utilities"],
  ["nec", "n e c"],
  ["nonalcoholic", "non alcoholic"],
  ["nonlife", "non life"],
  ["semitrailers", "semi trailers"],
]);

/** Returns a folded name with one form for words that are written in several ways. */
export function withCommonWordForms(folded: string): string {
  return folded
    .split(" ")
    .map((word) => WORD_FORMS.get(word) ?? word)
    .join(" ");
}

/** Shorter words, such as "gas" and "bus", are left as they are. */
const PLURAL_LENGTH_MIN = 4;

/** Returns a folded name with the plurals of its words replaced by the singular. */
export function withSingularWords(folded: string): string {
  return folded.split(" ").map(singularOf).join(" ");
}

function singularOf(word: string): string {
  if (word.length < PLURAL_LENGTH_MIN || !word.endsWith("s") || /(ss|us|is)$/.test(word)) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.slice(0, /(s|x|z|ch|sh)es$/.test(word) ? -2 : -1);
}
