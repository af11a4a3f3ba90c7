export interface Campaign {
  readonly name: string;
  readonly files: readonly string[];
  readonly sizes: Readonly<Record<string, number>>;
  readonly changes?: readonly string[];
}
export declare const CAMPAIGNS: readonly Campaign[];
export declare function changedFiles(): readonly string[] | undefined;
export declare function filesOutsideGate(changed?: readonly string[]): string[];
export declare function changedCampaignFolders(changed?: readonly string[]): readonly string[];
