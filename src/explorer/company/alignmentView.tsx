/** Temperature alignment of a company. */
export function AlignmentView() {
  return null;
}
