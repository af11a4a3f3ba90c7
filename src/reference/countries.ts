import { foldName, type Named } from "./names.ts";

const NGFS_REGIONS = ["R5OECD", "R5ASIA", "R5LAM", "R5MAF", "R5REF"] as const;
/** The five regions of the NGFS scenarios that a country can belong to. */
export type NgfsRegion = (typeof NGFS_REGIONS)[number];

/** A country as listed for all methods. `names` includes its codes. */
export interface ListedCountry extends Named {
  readonly iso3: string;
  readonly iso2: string;
  readonly region: NgfsRegion;
  /** The names, folded. */
  readonly keys: readonly string[];
}

/**
 * One line per country: ISO 3166 alpha-3, alpha-2, region of the NGFS scenarios, name, other names.
 *
 * Codes and regions: ISO 3166-1; the R5 regions of the IAMC as used by the NGFS scenarios (Phase V). Names: Unicode CLDR,
 * UN M49, and the spellings of EDGAR 2024, the World Bank and Our World in Data.
 */
const TABLE = `
AFG|AF|R5ASIA|Afghanistan|the Islamic Republic of Afghanistan
ALA|AX|R5OECD|Åland Islands
ALB|AL|R5OECD|Albania|the Republic of Albania
DZA|DZ|R5MAF|Algeria|the People's Democratic Republic of Algeria
ASM|AS|R5ASIA|American Samoa|AmericanSamoa
AND|AD|R5OECD|Andorra|the Principality of Andorra
AGO|AO|R5MAF|Angola|the Republic of Angola
AIA|AI|R5LAM|Anguilla
ATA|AQ|R5ASIA|Antarctica
ATG|AG|R5LAM|Antigua & Barbuda|Antigua and Barbuda|AntiguaandBarbuda
ARG|AR|R5LAM|Argentina|the Argentine Republic
ARM|AM|R5REF|Armenia|the Republic of Armenia
ABW|AW|R5LAM|Aruba
AUS|AU|R5OECD|Australia
AUT|AT|R5OECD|Austria|the Republic of Austria
AZE|AZ|R5REF|Azerbaijan|the Republic of Azerbaijan
BHS|BS|R5LAM|Bahamas|Bahamas, The|The Bahamas|TheBahamas|the Commonwealth of the Bahamas
BHR|BH|R5MAF|Bahrain|the Kingdom of Bahrain
BGD|BD|R5ASIA|Bangladesh|the People's Republic of Bangladesh
BRB|BB|R5LAM|Barbados
BLR|BY|R5REF|Belarus|the Republic of Belarus
BEL|BE|R5OECD|Belgium|the Kingdom of Belgium
BLZ|BZ|R5LAM|Belize
BEN|BJ|R5MAF|Benin|the Republic of Benin
BMU|BM|R5OECD|Bermuda
BTN|BT|R5ASIA|Bhutan|the Kingdom of Bhutan
BOL|BO|R5LAM|Bolivia|Bolivia (Plurinational State of)|Bolivia(PlurinationalStateof)|the Plurinational State of Bolivia
BES|BQ|R5LAM|Caribbean Netherlands|Bonaire, Sint Eustatius and Saba
BIH|BA|R5OECD|Bosnia|Bosnia a.Herzegov.|Bosnia and Herzegovina|Bosniaa.Herzegov.|BosniaandHerzegovina
BWA|BW|R5MAF|Botswana|the Republic of Botswana
BVT|BV|R5LAM|Bouvet Island
BRA|BR|R5LAM|Brazil|the Federative Republic of Brazil
IOT|IO|R5MAF|British Indian Ocean Territory
VGB|VG|R5LAM|British Virgin Islands|BritishVirginIslands|Virgin Islands, British|VirginIslands,British
BRN|BN|R5ASIA|Brunei|Brunei Darussalam|BruneiDarussalam
BGR|BG|R5OECD|Bulgaria|the Republic of Bulgaria
BFA|BF|R5MAF|Burkina Faso|BurkinaFaso
BDI|BI|R5MAF|Burundi|the Republic of Burundi
CPV|CV|R5MAF|Cape Verde|Cabo Verde|CaboVerde|CapeVerde|the Republic of Cabo Verde
KHM|KH|R5ASIA|Cambodia|the Kingdom of Cambodia
CMR|CM|R5MAF|Cameroon|the Republic of Cameroon
CAN|CA|R5OECD|Canada
CYM|KY|R5LAM|Cayman Islands|CaymanIslands
CAF|CF|R5MAF|Central African Republic|Centr. Afr. Republic|CentralAfricanRepublic|the Central African Republic
TCD|TD|R5MAF|Chad|the Republic of Chad
CHL|CL|R5LAM|Chile|the Republic of Chile
CHN|CN|R5ASIA|China|Mainland China|PRC|People's Republic of China|the People's Republic of China
HKG|HK|R5ASIA|Hong Kong|China, Hong Kong SAR|China, Hong Kong Special Administrative Region|China,HongKongSAR|China,HongKongSpecialAdministrativeRegion|Hong Kong (China)|Hong Kong S.A.R.|Hong Kong SAR|Hong Kong SAR, China|Hong Kong, Special Administrative Region of China|HongKong|HongKong(China)|HongKong,SpecialAdministrativeRegionofChina|HongKongS.A.R.|HongKongSAR,China
MAC|MO|R5ASIA|Macao|China, Macao SAR|China, Macao Special Administrative Region|China,MacaoSAR|China,MacaoSpecialAdministrativeRegion|Macao SAR, China|Macao, Special Administrative Region of China|Macao,SpecialAdministrativeRegionofChina|MacaoSAR,China|Macau|Macau S.A.R|MacauS.A.R
CXR|CX|R5ASIA|Christmas Island
CCK|CC|R5ASIA|Cocos Islands|Cocos (Keeling) Islands
COL|CO|R5LAM|Colombia|the Republic of Colombia
COM|KM|R5MAF|Comoros|the Union of the Comoros
COG|CG|R5MAF|Congo - Brazzaville|Congo|Congo, Rep.|Republic of Congo|Republic of the Congo|RepublicofCongo|RepublicoftheCongo|the Republic of the Congo
COK|CK|R5ASIA|Cook Islands|Cook Islands (the)|CookIslands|the Cook Islands
CRI|CR|R5LAM|Costa Rica|CostaRica|the Republic of Costa Rica
HRV|HR|R5OECD|Croatia|the Republic of Croatia
CUB|CU|R5LAM|Cuba|the Republic of Cuba
CUW|CW|R5LAM|Curaçao
CYP|CY|R5OECD|Cyprus|the Republic of Cyprus
CZE|CZ|R5OECD|Czechia|Czech Republic|CzechRepublic|the Czech Republic
PRK|KP|R5ASIA|North Korea|DPRK|Democratic People's Republic of Korea|DemocraticPeople'sRepublicofKorea|Korea, Democratic People's Republic of|Korea,DemocraticPeople'sRepublicof|NorthKorea|the Democratic People's Republic of Korea
COD|CD|R5MAF|Congo - Kinshasa|Congo, Dem. Rep.|DRC|Democratic Republic of the Congo|the Democratic Republic of the Congo|DR Congo|Congo, Democratic Republic of the|Democratic Republic of Congo
DNK|DK|R5OECD|Denmark|the Kingdom of Denmark
DJI|DJ|R5MAF|Djibouti|the Republic of Djibouti
DMA|DM|R5LAM|Dominica|the Commonwealth of Dominica
DOM|DO|R5LAM|Dominican Republic|Dominican Rep.|DominicanRep.|DominicanRepublic|the Dominican Republic
ECU|EC|R5LAM|Ecuador|the Republic of Ecuador
EGY|EG|R5MAF|Egypt|Egypt, Arab Rep.|Egypt,ArabRep.|the Arab Republic of Egypt
SLV|SV|R5LAM|El Salvador|ElSalvador|the Republic of El Salvador
GNQ|GQ|R5MAF|Equatorial Guinea|EquatorialGuinea|the Republic of Equatorial Guinea
ERI|ER|R5MAF|Eritrea|the State of Eritrea
EST|EE|R5OECD|Estonia|the Republic of Estonia
SWZ|SZ|R5MAF|Eswatini|Swaziland|the Kingdom of Eswatini
ETH|ET|R5MAF|Ethiopia|the Federal Democratic Republic of Ethiopia
FLK|FK|R5LAM|Falkland Islands|Falkland Islands (Malvinas)
FRO|FO|R5OECD|Faroe Islands|Faeroe Islands|FaeroeIslands|FaroeIslands
FJI|FJ|R5ASIA|Fiji|the Republic of Fiji
FIN|FI|R5OECD|Finland|the Republic of Finland
FRA|FR|R5OECD|France|the French Republic
GUF|GF|R5LAM|French Guiana
PYF|PF|R5ASIA|French Polynesia|FrenchPolynesia
ATF|TF|R5MAF|French Southern Territories
GAB|GA|R5MAF|Gabon|the Gabonese Republic
GMB|GM|R5MAF|Gambia|Gambia, The|The Gambia|the Republic of the Gambia
GEO|GE|R5REF|Georgia
DEU|DE|R5OECD|Germany|the Federal Republic of Germany
GHA|GH|R5MAF|Ghana|the Republic of Ghana
GIB|GI|R5OECD|Gibraltar
GRC|GR|R5OECD|Greece|the Hellenic Republic
GRL|GL|R5OECD|Greenland
GRD|GD|R5LAM|Grenada
GLP|GP|R5LAM|Guadeloupe
GUM|GU|R5OECD|Guam
GTM|GT|R5LAM|Guatemala|the Republic of Guatemala
GGY|GG|R5OECD|Guernsey
GIN|GN|R5MAF|Guinea|the Republic of Guinea
GNB|GW|R5MAF|Guinea-Bissau|GuineaBissau|the Republic of Guinea-Bissau
GUY|GY|R5LAM|Guyana|the Co-operative Republic of Guyana
HTI|HT|R5LAM|Haiti|the Republic of Haiti
HMD|HM|R5ASIA|Heard & McDonald Islands|Heard Island and McDonald Islands
VAT|VA|R5OECD|Vatican City|Holy See|Holy See (the)|Vatican|the Holy See
HND|HN|R5LAM|Honduras|the Republic of Honduras
HUN|HU|R5OECD|Hungary
ISL|IS|R5OECD|Iceland|the Republic of Iceland
IND|IN|R5ASIA|India|the Republic of India
IDN|ID|R5ASIA|Indonesia|the Republic of Indonesia
IRN|IR|R5MAF|Iran|Iran (Islamic Rep.)|Iran (Islamic Republic of)|Iran(IslamicRep.)|Iran(IslamicRepublicof)|Iran, Islamic Rep of|Iran, Islamic Republic|Iran,IslamicRepof|Iran,IslamicRepublic|the Islamic Republic of Iran
IRQ|IQ|R5MAF|Iraq|the Republic of Iraq
IRL|IE|R5OECD|Ireland
IMN|IM|R5OECD|Isle of Man|IsleofMan
ISR|IL|R5MAF|Israel|the State of Israel
ITA|IT|R5OECD|Italy|the Republic of Italy
CIV|CI|R5MAF|Côte d’Ivoire|Coted'Ivoire|Ivory Coast|IvoryCoast
JAM|JM|R5LAM|Jamaica
JPN|JP|R5OECD|Japan
JEY|JE|R5OECD|Jersey
JOR|JO|R5MAF|Jordan|the Hashemite Kingdom of Jordan
KAZ|KZ|R5REF|Kazakhstan|the Republic of Kazakhstan
KEN|KE|R5MAF|Kenya|the Republic of Kenya
KIR|KI|R5ASIA|Kiribati|the Republic of Kiribati
KWT|KW|R5MAF|Kuwait|the State of Kuwait
KGZ|KG|R5REF|Kyrgyzstan|Kyrgyz Republic|KyrgyzRepublic|the Kyrgyz Republic
LAO|LA|R5ASIA|Laos|Lao P. D. Republic|Lao PDR|Lao People's DR|Lao People's Democratic Republic|LaoP.D.Republic|LaoPDR|LaoPeople'sDR|LaoPeople'sDemocraticRepublic|the Lao People's Democratic Republic
LVA|LV|R5OECD|Latvia|the Republic of Latvia
LBN|LB|R5MAF|Lebanon|the Lebanese Republic
LSO|LS|R5MAF|Lesotho|the Kingdom of Lesotho
LBR|LR|R5MAF|Liberia|the Republic of Liberia
LBY|LY|R5MAF|Libya|Libyan Arab Jam.|Libyan Arab Jamahiriya|LibyanArabJam.|LibyanArabJamahiriya|the State of Libya
LIE|LI|R5OECD|Liechtenstein|the Principality of Liechtenstein
LTU|LT|R5OECD|Lithuania|the Republic of Lithuania
LUX|LU|R5OECD|Luxembourg|the Grand Duchy of Luxembourg
MDG|MG|R5MAF|Madagascar|the Republic of Madagascar
MWI|MW|R5MAF|Malawi|the Republic of Malawi
MYS|MY|R5ASIA|Malaysia
MDV|MV|R5ASIA|Maldives|the Republic of Maldives
MLI|ML|R5MAF|Mali|the Republic of Mali
MLT|MT|R5OECD|Malta|the Republic of Malta
MHL|MH|R5ASIA|Marshall Islands|MarshallIslands|the Republic of the Marshall Islands
MTQ|MQ|R5LAM|Martinique
MRT|MR|R5MAF|Mauritania|the Islamic Republic of Mauritania
MUS|MU|R5MAF|Mauritius|the Republic of Mauritius
MYT|YT|R5MAF|Mayotte
MEX|MX|R5LAM|Mexico|the United Mexican States
FSM|FM|R5ASIA|Micronesia|Federated States of Micronesia|FederatedStatesofMicronesia|Micronesia (Federated States of)|Micronesia(FederatedStatesof)|Micronesia, Fed States of|Micronesia, Fed. Sts.|Micronesia,FedStatesof|the Federated States of Micronesia
MCO|MC|R5OECD|Monaco|the Principality of Monaco
MNG|MN|R5ASIA|Mongolia
MNE|ME|R5OECD|Montenegro
MSR|MS|R5LAM|Montserrat
MAR|MA|R5MAF|Morocco|the Kingdom of Morocco
MOZ|MZ|R5MAF|Mozambique|the Republic of Mozambique
MMR|MM|R5ASIA|Myanmar|Burma|the Republic of the Union of Myanmar
NAM|NA|R5MAF|Namibia|the Republic of Namibia
NRU|NR|R5ASIA|Nauru|the Republic of Nauru
NPL|NP|R5ASIA|Nepal
NLD|NL|R5OECD|Netherlands|Holland|Netherlands, the|The Netherlands|the Kingdom of the Netherlands
NCL|NC|R5ASIA|New Caledonia|NewCaledonia
NZL|NZ|R5OECD|New Zealand|NewZealand
NIC|NI|R5LAM|Nicaragua|the Republic of Nicaragua
NER|NE|R5MAF|Niger|the Republic of the Niger
NGA|NG|R5MAF|Nigeria|the Federal Republic of Nigeria
NIU|NU|R5ASIA|Niue
NFK|NF|R5ASIA|Norfolk Island
MNP|MP|R5ASIA|Northern Mariana Islands|NorthernMarianaIslands
MKD|MK|R5OECD|North Macedonia|FYROM|Macedonia|Macedonia, FYR|Macedonia, Republic of|Macedonia, the former Yugoslav Republic of|Macedonia,Republicof|Macedonia,theformerYugoslavRepublicof|NorthMacedonia|The Former Yugoslav Republic  of Macedonia|The f. Yugoslav Rep. of Macedonia|TheFormerYugoslavRepublicofMacedonia|Thef.YugoslavRep.ofMacedonia|the Republic of North Macedonia
NOR|NO|R5OECD|Norway|the Kingdom of Norway
OMN|OM|R5MAF|Oman|the Sultanate of Oman
PAK|PK|R5ASIA|Pakistan|the Islamic Republic of Pakistan
PLW|PW|R5ASIA|Palau|the Republic of Palau
PAN|PA|R5LAM|Panama|the Republic of Panama
PNG|PG|R5ASIA|Papua New Guinea|Papua N. Guinea|PapuaN.Guinea|PapuaNewGuinea|the Independent State of Papua New Guinea
PRY|PY|R5LAM|Paraguay|the Republic of Paraguay
PER|PE|R5LAM|Peru|the Republic of Peru
PHL|PH|R5ASIA|Philippines|the Republic of the Philippines
PCN|PN|R5ASIA|Pitcairn|Pitcairn Islands
POL|PL|R5OECD|Poland|the Republic of Poland
PRT|PT|R5OECD|Portugal|the Portuguese Republic
PRI|PR|R5OECD|Puerto Rico|PuertoRico
QAT|QA|R5MAF|Qatar|the State of Qatar
KOR|KR|R5ASIA|South Korea|Korea|Korea, Rep of|Korea, Rep.|Korea, Republic of|Korea, South|Korea,Repof|Korea,Republicof|Republic of Korea|RepublicofKorea|SouthKorea|the Republic of Korea
MDA|MD|R5REF|Moldova|Moldova, Republic of|Moldova,Republicof|Rep. of Moldova|Rep.ofMoldova|Republic of Moldova|RepublicofMoldova|the Republic of Moldova
REU|RE|R5MAF|Réunion
ROU|RO|R5OECD|Romania
RUS|RU|R5REF|Russia|Russian Federation|RussianFederation|the Russian Federation
RWA|RW|R5MAF|Rwanda|the Republic of Rwanda
BLM|BL|R5LAM|St. Barthélemy|Saint Barthélemy
SHN|SH|R5MAF|St. Helena|Saint Helena|Saint Helena, Ascension and Tristan da Cunha
KNA|KN|R5LAM|St. Kitts & Nevis|Saint Kitts and Nevis|SaintKittsandNevis|St. Kitts and Nevis|St.KittsandNevis
LCA|LC|R5LAM|St. Lucia|Saint Lucia|SaintLucia
MAF|MF|R5LAM|St. Martin|Saint Martin|Saint-Martin (French part)|Saint-Martin(Frenchpart)|SaintMartin
SPM|PM|R5OECD|St. Pierre & Miquelon|Saint Pierre and Miquelon
VCT|VC|R5LAM|St. Vincent & Grenadines|Saint Vincent and Grenadines|Saint Vincent and the Grenadines|SaintVincentandGrenadines|SaintVincentandtheGrenadines|St Vincent and the Grenadines|St.VincentandtheGrenadines|StVincentandtheGrenadines
WSM|WS|R5ASIA|Samoa|Western Samoa|WesternSamoa|the Independent State of Samoa
SMR|SM|R5OECD|San Marino|SanMarino|the Republic of San Marino
STP|ST|R5MAF|São Tomé & Príncipe|Sao Tome and Principe|SaoTomeandPrincipe|the Democratic Republic of Sao Tome and Principe
SAU|SA|R5MAF|Saudi Arabia|KSA|Kingdom of Saudi Arabia|SaudiArabia|the Kingdom of Saudi Arabia
SEN|SN|R5MAF|Senegal|the Republic of Senegal
SRB|RS|R5OECD|Serbia|Republic of Serbia|RepublicofSerbia|the Republic of Serbia
SYC|SC|R5MAF|Seychelles|the Republic of Seychelles
SLE|SL|R5MAF|Sierra Leone|SierraLeone|the Republic of Sierra Leone
SGP|SG|R5ASIA|Singapore|the Republic of Singapore
SXM|SX|R5LAM|Sint Maarten|Sint Maarten (Dutch part)
SVK|SK|R5OECD|Slovakia|Slovak Republic|SlovakRepublic|the Slovak Republic
SVN|SI|R5OECD|Slovenia|the Republic of Slovenia
SLB|SB|R5ASIA|Solomon Islands|SolomonIslands
SOM|SO|R5MAF|Somalia|the Federal Republic of Somalia
ZAF|ZA|R5MAF|South Africa|SouthAfrica|the Republic of South Africa
SGS|GS|R5LAM|South Georgia & South Sandwich Islands|South Georgia and the South Sandwich Islands
SSD|SS|R5MAF|South Sudan|S. Sudan|SouthSudan|the Republic of South Sudan
ESP|ES|R5OECD|Spain|the Kingdom of Spain
LKA|LK|R5ASIA|Sri Lanka|SriLanka|the Democratic Socialist Republic of Sri Lanka
PSE|PS|R5MAF|Palestine|State of Palestine|State of Palestine (the)|West Bank and Gaza|the State of Palestine|Palestinian Territories
SDN|SD|R5MAF|Sudan|the Republic of the Sudan
SUR|SR|R5LAM|Suriname|the Republic of Suriname
SJM|SJ|R5OECD|Svalbard & Jan Mayen|Svalbard and Jan Mayen
SWE|SE|R5OECD|Sweden|the Kingdom of Sweden
CHE|CH|R5OECD|Switzerland|the Swiss Confederation
SYR|SY|R5MAF|Syria|Syrian Arab Rep.|Syrian Arab Republic|Syrian Arab Republic (Syria)|SyrianArabRep.|SyrianArabRepublic|SyrianArabRepublic(Syria)|the Syrian Arab Republic
TWN|TW|R5ASIA|Taiwan|Chinese Taipei|Taiwan, China|Taiwan, Republic of China|Taiwan,RepublicofChina
TJK|TJ|R5REF|Tajikistan|the Republic of Tajikistan
THA|TH|R5ASIA|Thailand|the Kingdom of Thailand
TLS|TL|R5ASIA|Timor-Leste|East Timor|EastTimor|the Democratic Republic of Timor-Leste
TGO|TG|R5MAF|Togo|the Togolese Republic
TKL|TK|R5ASIA|Tokelau
TON|TO|R5ASIA|Tonga|the Kingdom of Tonga
TTO|TT|R5LAM|Trinidad & Tobago|Trinidad and Tobago|TrinidadandTobago|the Republic of Trinidad and Tobago
TUN|TN|R5MAF|Tunisia|the Republic of Tunisia
TUR|TR|R5OECD|Türkiye|Turkey
TKM|TM|R5REF|Turkmenistan
TCA|TC|R5LAM|Turks & Caicos Islands|Turks and Caicos Islands|TurksandCaicosIslands
TUV|TV|R5ASIA|Tuvalu
UGA|UG|R5MAF|Uganda|the Republic of Uganda
UKR|UA|R5REF|Ukraine
ARE|AE|R5MAF|United Arab Emirates|UAE|UnitedArabEmirates|the United Arab Emirates
GBR|GB|R5OECD|UK|Britain|England|Great Britain|U.K.|United Kingdom|United Kingdom of Great Britain and Northern Ireland|UnitedKingdom|UnitedKingdomofGreatBritainandNorthernIreland|the United Kingdom of Great Britain and Northern Ireland
TZA|TZ|R5MAF|Tanzania|Tanzania, United Rep of|Tanzania, United Rep.|Tanzania, United Republic of|Tanzania,UnitedRep.|Tanzania,UnitedRepof|Tanzania,UnitedRepublicof|U.R. of Tanzania: Mainland|U.R.ofTanzania:Mainland|United Republic of Tanzania|UnitedRepublicofTanzania|the United Republic of Tanzania
UMI|UM|R5ASIA|U.S. Outlying Islands|United States Minor Outlying Islands
USA|US|R5OECD|US|America|U.S.|U.S.A.|United States|United States of America|UnitedStates|UnitedStatesofAmerica|the United States of America
VIR|VI|R5LAM|U.S. Virgin Islands|United States Virgin Islands|UnitedStatesVirginIslands|Virgin Islands, U.S.|Virgin Islands, US|VirginIslands,U.S.|VirginIslands,US
URY|UY|R5LAM|Uruguay|the Eastern Republic of Uruguay
UZB|UZ|R5REF|Uzbekistan|the Republic of Uzbekistan
VUT|VU|R5ASIA|Vanuatu|the Republic of Vanuatu
VEN|VE|R5LAM|Venezuela|Venezuela (Bolivarian Republic of)|Venezuela(BolivarianRepublicof)|Venezuela, RB|the Bolivarian Republic of Venezuela
VNM|VN|R5ASIA|Vietnam|Viet Nam|the Socialist Republic of Viet Nam
WLF|WF|R5ASIA|Wallis & Futuna|Wallis and Futuna
ESH|EH|R5MAF|Western Sahara
YEM|YE|R5MAF|Yemen|Yemen, Rep.|the Republic of Yemen
ZMB|ZM|R5MAF|Zambia|the Republic of Zambia
ZWE|ZW|R5MAF|Zimbabwe|the Republic of Zimbabwe
`;

/** All countries with an ISO code, ordered by English name. */
export const LISTED_COUNTRIES: readonly ListedCountry[] = TABLE.trim().split("\n").map(readCountry);

function readCountry(line: string): ListedCountry {
  const [iso3 = "", iso2 = "", cell, name = "", ...others] = line.split("|");
  const region = NGFS_REGIONS.find((known) => known === cell);
  if (region === undefined) throw new Error(`${iso3} has no NGFS region.`);
  const names = [name, iso3, iso2, ...others];
  return { name, names, iso3, iso2, region, keys: names.map(foldName) };
}

/** Titles that may precede the name of a country, in the order in which they occur. */
const TITLES = ["the ", "republic of ", "the "];

/** Returns the forms of a key after removing its titles one by one; an empty list if it has none. */
export function withoutTitles(key: string): readonly string[] {
  const forms: string[] = [];
  let rest = key;
  for (const title of TITLES) {
    if (!rest.startsWith(title)) continue;
    rest = rest.slice(title.length);
    forms.push(rest);
  }
  return forms;
}

/**
 * Indexes countries by their keys, and by the shortened keys that belong to exactly one country and are not a key of
 * another.
 */
export function indexCountries<Item extends ListedCountry>(
  countries: readonly Item[],
  shorten: (key: string) => readonly string[],
): ReadonlyMap<string, Item> {
  const index = new Map(countries.flatMap((country) => country.keys.map((key) => [key, country] as const)));
  const shortened = new Map<string, Set<Item>>();
  for (const [key, country] of index) {
    for (const short of shorten(key)) shortened.set(short, (shortened.get(short) ?? new Set()).add(country));
  }
  for (const [short, [country, ...others]] of shortened) {
    if (country !== undefined && others.length === 0 && !index.has(short)) index.set(short, country);
  }
  return index;
}
