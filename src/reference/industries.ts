import { foldName, type Named } from "./names.ts";

/** An industry as listed for all methods. */
export interface ListedIndustry extends Named {
  readonly id: string;
  /** Id and names, folded. */
  readonly keys: readonly string[];
  /** t CO2e per million USD of 2022 revenue. */
  readonly intensity: {
    readonly scope1: number;
    readonly scope2: number;
    readonly scope3Upstream: number;
    readonly scope3Downstream: number;
  };
  /** Source of the intensity, as read by `readFactorSource` in factorSources.ts. */
  readonly source: string;
}

/**
 * One line per industry: id; t CO2e per million USD of 2022 revenue (producer prices) in scope 1, scope 2, scope 3
 * upstream, scope 3 downstream; source of these factors (see factorSources.ts); name, other name.
 *
 * Derived from the US EPA Supply Chain Greenhouse Gas Emission Factors v1.3 and USEEIO v2.0.1 (US public domain), with
 * overrides from OECD ICIO 2025 (CC BY 4.0) as given by the source column. Scope 3 downstream is our judgement, an order
 * of magnitude only.
 */
const TABLE = `
iron_steel|334.2|74|469.1|0|steel|Iron and steel|Steel
aluminium|500|800|520|0|aluminium|Aluminium|Aluminum
precious_metals|399.5|85|161.9|0|epa|Precious metals mining and refining|Precious Metals
other_metals_minerals|151|47|241.3|0|epa|Other metals and minerals|Other Metals/Minerals
wood_products|43.3|34.8|175.2|0|epa|Forestry and wood products|Forest Products
construction_materials|2423|145.1|432.7|0|epa|Construction materials (aggregates, concrete, cement mix)|Construction Materials
metal_fabrication|31.4|30.4|252.5|0|epa|Metal fabrication|Metal Fabrication
industrial_machinery|11.9|16.1|224|1500|epa|Industrial machinery|Industrial Machinery
heavy_vehicles_machinery|21.4|6.5|272.5|4000|epa|Trucks, construction and farm machinery|Trucks/Construction/Farm Machinery
auto_parts|10.3|20.5|312.2|300|epa|Motor vehicle parts|Auto Parts: OEM
building_products|93.9|23.4|200.4|500|epa|Building products|Building Products
electrical_products|11.4|17.6|189.5|1000|epa|Electrical equipment|Electrical Products
office_equipment|16.1|21.5|264.7|50|epa|Office equipment and supplies|Office Equipment/Supplies
misc_manufacturing|21.2|46.2|361.1|50|epa|Miscellaneous manufacturing|Miscellaneous Manufacturing
industrial_conglomerates|61.8|18.7|234.3|1000|epa|Industrial conglomerates|Industrial Conglomerates
semiconductors|96|37.1|85.1|150|epa|Semiconductors|Semiconductors
electronic_components|5.9|9.5|74|50|epa|Electronic components|Electronic Components
electronic_instruments|3.5|5.9|74.8|80|epa|Electronic equipment and instruments|Electronic Equipment/Instruments
telecom_equipment|4.2|5.9|70|150|epa|Telecommunications equipment|Telecommunications Equipment
aerospace_defence|8.9|13.8|128.2|4000|epa|Aerospace and defence|Aerospace & Defense
computer_hardware|.3|2|42.3|200|epa|Computers and servers|Computer Processing Hardware
computer_peripherals|9.6|7.7|92.1|150|epa|Computer peripherals and storage|Computer Peripherals
network_equipment|9.5|6|106.6|150|epa|Computer networking equipment|Computer Communications
electronic_production_equipment|5.2|9.2|143.7|600|epa|Semiconductor and electronics production equipment|Electronic Production Equipment
motor_vehicles|12.8|5|268.8|1100|epa|Motor vehicles|Motor Vehicles
auto_aftermarket|8.5|21.1|130.5|300|epa|Automotive aftermarket|Automotive Aftermarket
homebuilding|25.8|8|164.9|300|epa|Homebuilding|Homebuilding
home_furnishings|32.1|23.8|322.1|20|epa|Home furnishings|Home Furnishings
consumer_electronics_appliances|4.7|6.3|131.9|400|epa|Consumer electronics and appliances|Electronics/Appliances
tools_hardware|23.4|24.8|240.1|100|epa|Tools and hardware|Tools & Hardware
recreational_products|12.1|9.8|208|200|epa|Recreational products and toys|Recreational Products
consumer_specialties|5.9|10.5|199|5|epa|Jewellery, watches and leather goods|Other Consumer Specialties
oil_gas_production|275.4|14.6|113.1|5000|epa|Oil and gas production|Oil & Gas Production
integrated_oil|188.1|11.4|176.3|4000|integrated|Integrated oil and gas|Integrated Oil
oil_refining|100.8|9.3|206.7|3300|refining|Oil refining and marketing|Oil Refining/Marketing
coal_mining|880.5|37.8|165.8|20000|epa|Coal mining|Coal
diversified_chemicals|418.7|74|627.5|800|epa|Basic and diversified chemicals|Chemicals: Major Diversified
specialty_chemicals|170.2|61.3|398.6|300|epa|Specialty chemicals|Chemicals: Specialty
agricultural_chemicals|747.1|25.3|522.4|1500|epa|Fertilisers and agricultural chemicals|Chemicals: Agricultural
textiles|53.2|69.9|431.8|20|epa|Textiles|Textiles
agri_commodities_milling|112.3|23.1|573|20|epa|Agricultural commodities and milling|Agricultural Commodities/Milling
pulp_paper|368.9|129.6|412|100|epa|Pulp and paper|Pulp & Paper
packaging|79.3|55.9|438.4|100|epa|Containers and packaging|Containers/Packaging
industrial_specialties|63.7|28.8|349.2|100|epa|Paints, plastics and industrial specialties|Industrial Specialties
pharma_major|6.5|8.2|93.7|5|epa|Pharmaceuticals, major|Pharmaceuticals: Major
pharma_other|18.4|8.4|91.9|5|epa|Pharmaceuticals, other|Pharmaceuticals: Other
pharma_generic|18.4|8.4|91.9|5|epa|Pharmaceuticals, generic|Pharmaceuticals: Generic
biotechnology|30.4|16.7|126|2|epa|Biotechnology|Biotechnology
medical_devices|7.1|11.5|129.7|20|epa|Medical devices and instruments|Medical Specialties
food_diversified|45|25.3|561.4|50|epa|Food, diversified|Food: Major Diversified
food_specialty|36.4|24.9|421.6|50|epa|Food, specialty and confectionery|Food: Specialty/Candy
food_meat_fish_dairy|20|14.3|1076.8|50|epa|Meat, fish and dairy|Food: Meat/Fish/Dairy
beverages_nonalcoholic|12.3|18.2|244.9|60|epa|Beverages, non-alcoholic|Beverages: Non-Alcoholic
beverages_alcoholic|50.4|17.4|313.9|30|epa|Beverages, alcoholic|Beverages: Alcoholic
tobacco|4.7|6.5|95.9|5|epa|Tobacco|Tobacco
household_personal_care|93.5|28.3|300.9|600|epa|Household and personal care|Household/Personal Care
apparel_footwear|14.4|10.7|274.9|50|epa|Apparel and footwear|Apparel/Footwear
consumer_sundries|19.3|46.6|356.1|20|epa|Consumer sundries|Consumer Sundries
contract_drilling|247.5|10.2|149.3|0|epa|Contract drilling|Contract Drilling
oilfield_services|193.9|10.4|141.9|0|epa|Oilfield services and equipment|Oilfield Services/Equipment
engineering_construction|56.3|10.1|113.8|200|epa|Engineering and construction|Engineering & Construction
environmental_services|715.7|9.2|263.1|0|epa|Waste and environmental services|Environmental Services
oil_gas_pipelines|1480.5|52.8|85.6|0|epa|Oil and gas pipelines|Oil & Gas Pipelines
commercial_services|8.6|8.6|102.9|0|epa|Commercial and business support services|Miscellaneous Commercial Services
advertising_marketing|5|9.7|69.3|0|epa|Advertising and marketing|Advertising/Marketing Services
commercial_printing|44.1|33.2|180|5|epa|Commercial printing|Commercial Printing/Forms
financial_publishing|3.2|7.2|62.7|0|epa|Financial data and publishing|Financial Publishing/Services
personnel_services|.3|2.1|48.6|0|epa|Staffing and personnel services|Personnel Services
wholesale|1.7|5.2|279.7|0|epa-sales .21|Wholesale distribution|Wholesale Distributors
food_wholesale|.9|6.3|488.7|0|epa-sales .16|Food wholesale|Food Distributors
electronics_wholesale|.3|3.1|132.2|0|epa-sales .20|Electronics wholesale|Electronics Distributors
medical_wholesale|.1|1.8|106.9|0|epa-sales .08|Medical wholesale|Medical Distributors
data_processing|3.4|19.2|70.4|0|epa|Data processing and hosting|Data Processing Services
it_services|12.3|7.4|65.4|0|epa|Information technology services|Information Technology Services
software|1.3|7.5|42|5|epa|Packaged software|Packaged Software
internet_services|2.4|15.2|67.3|5|epa|Internet software and services|Internet Software/Services
managed_health_care|.4|1|130|0|epa-medical|Managed health care|Managed Health Care
hospitals|11.9|27.6|107.9|0|epa|Hospitals and nursing facilities|Hospital/Nursing Management
medical_services|4.2|9.7|76.5|0|epa|Medical and nursing services|Medical/Nursing Services
health_industry_services|17.8|16.2|111.1|0|epa|Services to the health industry|Services to the Health Industry
media_conglomerates|6.2|6.6|49.9|10|epa|Media conglomerates|Media Conglomerates
broadcasting|12.7|4|62.3|20|epa|Broadcasting|Broadcasting
cable_satellite|9.7|10.5|65.1|40|epa|Cable and satellite television|Cable/Satellite TV
newspapers|1.3|9.2|47.8|5|epa|Newspaper publishing|Publishing: Newspapers
books_magazines|1.3|9.7|83.7|5|epa|Book and magazine publishing|Publishing: Books/Magazines
entertainment|1.6|11.5|50.3|10|epa|Film, music and live entertainment|Movies/Entertainment
restaurants|9.2|69.5|127.7|0|epa|Restaurants|Restaurants
hotels_cruise|63.1|48.4|100.6|0|epa|Hotels, resorts and cruise lines|Hotels/Resorts/Cruise lines
casinos_gaming|21.1|44.8|88.9|0|epa|Casinos and gaming|Casinos/Gaming
consumer_services|18.2|22.5|83.9|0|epa|Education and personal services|Other Consumer Services
food_retail|1.5|24.7|425.3|0|epa-sales .29|Food retail|Food Retail
drugstores|.4|10.7|133.8|0|epa-sales .25|Drugstores and pharmacies|Drugstore Chains
department_stores|.7|21.7|232.7|0|epa-sales .33|Department stores|Department Stores
discount_stores|.6|17.8|317.9|0|epa-sales .27|Discount and general merchandise stores|Discount Stores
apparel_retail|.6|16.8|201.5|0|epa-sales .43|Apparel and footwear retail|Apparel/Footwear Retail
home_improvement_retail|1.1|12.2|234.1|0|epa-sales .34|Home improvement retail|Home Improvement Chains
electronics_retail|.6|8.8|130.8|0|epa-sales .25|Electronics and appliance retail|Electronics/Appliance Stores
specialty_retail|.8|9.5|221.7|0|epa-sales .33|Specialty retail|Specialty Stores
catalogue_retail|.5|7.7|182.5|0|epa-sales .38|Catalogue and specialty distribution|Catalog/Specialty Distribution
internet_retail|7.9|11.8|184.7|0|epa-sales .38|Internet retail|Internet Retail
air_freight_couriers|213|5.5|124.6|0|epa|Air freight and couriers|Air Freight/Couriers
airlines|760|.8|165.1|0|airlines|Airlines|Airlines
trucking|472.7|6.6|115.6|0|epa|Trucking|Trucking
railroads|348.1|.9|117|0|epa|Railroads|Railroads
marine_shipping|536.7|3.3|275.9|0|epa|Marine shipping|Marine Shipping
other_transport|66.8|57.5|155.1|0|epa|Transport infrastructure, transit and logistics|Other Transportation
electric_utilities|3103.1|40|250|0|power|Electric utilities|Electric Utilities
gas_distribution|315.7|34.8|181.6|5500|epa|Gas distribution|Gas Distributors
water_utilities|380|13.7|184.4|0|epa|Water utilities|Water Utilities
renewable_power|8|12|250|0|renewables|Renewable and alternative power generation|Alternative Power Generation
major_banks|7.2|7.5|44.3|0|epa|Banks, major|Major Banks
regional_banks|7.2|7.5|44.3|0|epa|Banks, regional|Regional Banks
savings_banks|7.2|7.5|44.3|0|epa|Savings banks|Savings Banks
finance_leasing|13.4|9.1|63.6|0|epa|Consumer finance, rental and leasing|Finance/Rental/Leasing
investment_banks|2|5.7|35.3|0|epa|Investment banks and brokers|Investment Banks/Brokers
investment_managers|3.2|5.5|57.3|0|epa|Investment managers|Investment Managers
financial_conglomerates|3.4|4.4|37.4|0|epa|Financial conglomerates|Financial Conglomerates
insurance_pc|.4|1|31.7|0|epa|Insurance, property and casualty|Property/Casualty Insurance
insurance_multiline|.4|1.1|34.3|0|epa|Insurance, multi-line|Multi-Line Insurance
insurance_life|.5|2|48.6|0|epa|Insurance, life and health|Life/Health Insurance
insurance_specialty|.4|1|31.7|0|epa|Insurance, specialty and reinsurance|Specialty Insurance
insurance_brokers|.3|1.8|26.9|0|epa|Insurance brokers and services|Insurance Brokers/Services
real_estate_development|36.2|75|127.2|100|epa|Real estate development and operation|Real Estate Development
reits|39.8|103.1|103.1|150|epa|Real estate investment trusts|Real Estate Investment Trusts
telecom_integrated|.8|18|56.2|30|epa|Telecommunications, integrated|Major Telecommunications
telecom_specialty|.8|17.9|56.5|20|epa|Telecommunications, specialty|Specialty Telecommunications
telecom_wireless|.9|9.8|85.3|30|epa|Telecommunications, wireless|Wireless Telecommunications
miscellaneous|72.7|24.7|156.6|0|epa|Miscellaneous / unclassified company|Miscellaneous
investment_funds|3.2|5.5|57.3|0|epa|Investment trusts and funds|Investment Trusts/Mutual Funds
cement_lime|4664.9|252|354.5|0|epa|Cement and lime
glass|319|146.7|382.9|0|epa|Glass
fertilisers|1076.2|29|510.8|1800|epa|Fertilisers and nitrogen compounds
crop_farming|511.4|9.8|248.4|0|epa|Crop farming
livestock_farming|1328.7|10.4|750.9|0|epa|Livestock farming
forestry_logging|122.5|3.2|163.9|0|epa|Forestry and logging
fishing_aquaculture|95.5|5.1|54.3|0|epa|Fishing and aquaculture
fossil_power|8000|30|600|0|fossil|Fossil-fuelled power generation
nuclear_power|10|15|120|0|nuclear|Nuclear power generation
power_networks|30|350|120|0|networks|Electricity transmission and distribution
ports_airports|39.4|9.3|113.3|0|epa|Ports, airports and toll roads
warehousing|14.9|141.4|87.7|0|epa|Warehousing and storage
education|30.3|21.5|86.8|0|epa|Education
public_administration|5.8|1.5|52.7|0|epa-scaled|Public administration
social_care|7|18.3|144.6|0|epa|Social care
professional_services|2.1|7.3|60.2|0|epa|Legal, accounting and consulting services
research_development|21.2|17|117.8|0|epa|Scientific research and development
sports_recreation|25.2|43.5|110.5|0|epa|Sports and recreation facilities
`;

/** All industries, in the order of the table. */
export const LISTED_INDUSTRIES: readonly ListedIndustry[] = TABLE.trim().split("\n").map(readIndustry);

function readIndustry(line: string): ListedIndustry {
  const [id = "", scope1, scope2, upstream, downstream, source = "", ...names] = line.split("|");
  return {
    id,
    name: names[0] ?? "",
    names,
    keys: [id, ...names].map(foldName),
    intensity: {
      scope1: Number(scope1),
      scope2: Number(scope2),
      scope3Upstream: Number(upstream),
      scope3Downstream: Number(downstream),
    },
    source,
  };
}

/** Kinds of keys, in the order of `keys`. */
const KINDS = ["id", "name", "alias"] as const;

export interface IndustryKeyMatch<Item> {
  readonly industry: Item;
  readonly on: (typeof KINDS)[number];
}

/** Indexes industries by their keys; of several equal keys the first one counts. */
export function indexIndustries<Item extends Pick<ListedIndustry, "keys">>(
  industries: readonly Item[],
): ReadonlyMap<string, IndustryKeyMatch<Item>> {
  const index = new Map<string, IndustryKeyMatch<Item>>();
  for (const industry of industries) {
    for (const [position, key] of industry.keys.entries()) {
      const on = KINDS[position];
      if (on !== undefined && !index.has(key)) index.set(key, { industry, on });
    }
  }
  return index;
}
