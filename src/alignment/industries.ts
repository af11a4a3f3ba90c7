import { foldName } from "./names.ts";

/** What an industry emits per unit of revenue, t CO2e per million USD of 2022. */
export interface IndustryIntensity {
  readonly scope1TCO2ePerMUSD: number;
  readonly scope2TCO2ePerMUSD: number;
  /** Upstream and downstream. */
  readonly scope3TCO2ePerMUSD: number;
}

/**
 * One line an industry: id; t CO2e per million USD of 2022 in scope 1, scope 2, scope 3 upstream, scope 3 downstream;
 * name, other name.
 *
 * Derived from the US EPA Supply Chain Greenhouse Gas Emission Factors v1.3 and USEEIO v2.0.1 (US public domain), with
 * overrides from OECD ICIO 2025 (CC BY 4.0) and, for scope 3 downstream, our judgement: orders of magnitude.
 */
const INDUSTRIES = `
iron_steel|334.2|74.0|469.1|0.0|Iron and steel|Steel
aluminium|500.0|800.0|520.0|0.0|Aluminium|Aluminum
precious_metals|399.5|85.0|161.9|0.0|Precious metals mining and refining|Precious Metals
other_metals_minerals|151.0|47.0|241.3|0.0|Other metals and minerals|Other Metals/Minerals
wood_products|43.3|34.8|175.2|0.0|Forestry and wood products|Forest Products
construction_materials|2423.0|145.1|432.7|0.0|Construction materials (aggregates, concrete, cement mix)|Construction Materials
metal_fabrication|31.4|30.4|252.5|0.0|Metal fabrication|Metal Fabrication
industrial_machinery|11.9|16.1|224.0|1500.0|Industrial machinery|Industrial Machinery
heavy_vehicles_machinery|21.4|6.5|272.5|4000.0|Trucks, construction and farm machinery|Trucks/Construction/Farm Machinery
auto_parts|10.3|20.5|312.2|300.0|Motor vehicle parts|Auto Parts: OEM
building_products|93.9|23.4|200.4|500.0|Building products|Building Products
electrical_products|11.4|17.6|189.5|1000.0|Electrical equipment|Electrical Products
office_equipment|16.1|21.5|264.7|50.0|Office equipment and supplies|Office Equipment/Supplies
misc_manufacturing|21.2|46.2|361.1|50.0|Miscellaneous manufacturing|Miscellaneous Manufacturing
industrial_conglomerates|61.8|18.7|234.3|1000.0|Industrial conglomerates|Industrial Conglomerates
semiconductors|96.0|37.1|85.1|150.0|Semiconductors|Semiconductors
electronic_components|5.9|9.5|74.0|50.0|Electronic components|Electronic Components
electronic_instruments|3.5|5.9|74.8|80.0|Electronic equipment and instruments|Electronic Equipment/Instruments
telecom_equipment|4.2|5.9|70.0|150.0|Telecommunications equipment|Telecommunications Equipment
aerospace_defence|8.9|13.8|128.2|4000.0|Aerospace and defence|Aerospace & Defense
computer_hardware|0.3|2.0|42.3|200.0|Computers and servers|Computer Processing Hardware
computer_peripherals|9.6|7.7|92.1|150.0|Computer peripherals and storage|Computer Peripherals
network_equipment|9.5|6.0|106.6|150.0|Computer networking equipment|Computer Communications
electronic_production_equipment|5.2|9.2|143.7|600.0|Semiconductor and electronics production equipment|Electronic Production Equipment
motor_vehicles|12.8|5.0|268.8|1100.0|Motor vehicles|Motor Vehicles
auto_aftermarket|8.5|21.1|130.5|300.0|Automotive aftermarket|Automotive Aftermarket
homebuilding|25.8|8.0|164.9|300.0|Homebuilding|Homebuilding
home_furnishings|32.1|23.8|322.1|20.0|Home furnishings|Home Furnishings
consumer_electronics_appliances|4.7|6.3|131.9|400.0|Consumer electronics and appliances|Electronics/Appliances
tools_hardware|23.4|24.8|240.1|100.0|Tools and hardware|Tools & Hardware
recreational_products|12.1|9.8|208.0|200.0|Recreational products and toys|Recreational Products
consumer_specialties|5.9|10.5|199.0|5.0|Jewellery, watches and leather goods|Other Consumer Specialties
oil_gas_production|275.4|14.6|113.1|5000.0|Oil and gas production|Oil & Gas Production
integrated_oil|188.1|11.4|176.3|4000.0|Integrated oil and gas|Integrated Oil
oil_refining|100.8|9.3|206.7|3300.0|Oil refining and marketing|Oil Refining/Marketing
coal_mining|880.5|37.8|165.8|20000.0|Coal mining|Coal
diversified_chemicals|418.7|74.0|627.5|800.0|Basic and diversified chemicals|Chemicals: Major Diversified
specialty_chemicals|170.2|61.3|398.6|300.0|Specialty chemicals|Chemicals: Specialty
agricultural_chemicals|747.1|25.3|522.4|1500.0|Fertilisers and agricultural chemicals|Chemicals: Agricultural
textiles|53.2|69.9|431.8|20.0|Textiles|Textiles
agri_commodities_milling|112.3|23.1|573.0|20.0|Agricultural commodities and milling|Agricultural Commodities/Milling
pulp_paper|368.9|129.6|412.0|100.0|Pulp and paper|Pulp & Paper
packaging|79.3|55.9|438.4|100.0|Containers and packaging|Containers/Packaging
industrial_specialties|63.7|28.8|349.2|100.0|Paints, plastics and industrial specialties|Industrial Specialties
pharma_major|6.5|8.2|93.7|5.0|Pharmaceuticals, major|Pharmaceuticals: Major
pharma_other|18.4|8.4|91.9|5.0|Pharmaceuticals, other|Pharmaceuticals: Other
pharma_generic|18.4|8.4|91.9|5.0|Pharmaceuticals, generic|Pharmaceuticals: Generic
biotechnology|30.4|16.7|126.0|2.0|Biotechnology|Biotechnology
medical_devices|7.1|11.5|129.7|20.0|Medical devices and instruments|Medical Specialties
food_diversified|45.0|25.3|561.4|50.0|Food, diversified|Food: Major Diversified
food_specialty|36.4|24.9|421.6|50.0|Food, specialty and confectionery|Food: Specialty/Candy
food_meat_fish_dairy|20.0|14.3|1076.8|50.0|Meat, fish and dairy|Food: Meat/Fish/Dairy
beverages_nonalcoholic|12.3|18.2|244.9|60.0|Beverages, non-alcoholic|Beverages: Non-Alcoholic
beverages_alcoholic|50.4|17.4|313.9|30.0|Beverages, alcoholic|Beverages: Alcoholic
tobacco|4.7|6.5|95.9|5.0|Tobacco|Tobacco
household_personal_care|93.5|28.3|300.9|600.0|Household and personal care|Household/Personal Care
apparel_footwear|14.4|10.7|274.9|50.0|Apparel and footwear|Apparel/Footwear
consumer_sundries|19.3|46.6|356.1|20.0|Consumer sundries|Consumer Sundries
contract_drilling|247.5|10.2|149.3|0.0|Contract drilling|Contract Drilling
oilfield_services|193.9|10.4|141.9|0.0|Oilfield services and equipment|Oilfield Services/Equipment
engineering_construction|56.3|10.1|113.8|200.0|Engineering and construction|Engineering & Construction
environmental_services|715.7|9.2|263.1|0.0|Waste and environmental services|Environmental Services
oil_gas_pipelines|1480.5|52.8|85.6|0.0|Oil and gas pipelines|Oil & Gas Pipelines
commercial_services|8.6|8.6|102.9|0.0|Commercial and business support services|Miscellaneous Commercial Services
advertising_marketing|5.0|9.7|69.3|0.0|Advertising and marketing|Advertising/Marketing Services
commercial_printing|44.1|33.2|180.0|5.0|Commercial printing|Commercial Printing/Forms
financial_publishing|3.2|7.2|62.7|0.0|Financial data and publishing|Financial Publishing/Services
personnel_services|0.3|2.1|48.6|0.0|Staffing and personnel services|Personnel Services
wholesale|1.7|5.2|279.7|0.0|Wholesale distribution|Wholesale Distributors
food_wholesale|0.9|6.3|488.7|0.0|Food wholesale|Food Distributors
electronics_wholesale|0.3|3.1|132.2|0.0|Electronics wholesale|Electronics Distributors
medical_wholesale|0.1|1.8|106.9|0.0|Medical wholesale|Medical Distributors
data_processing|3.4|19.2|70.4|0.0|Data processing and hosting|Data Processing Services
it_services|12.3|7.4|65.4|0.0|Information technology services|Information Technology Services
software|1.3|7.5|42.0|5.0|Packaged software|Packaged Software
internet_services|2.4|15.2|67.3|5.0|Internet software and services|Internet Software/Services
managed_health_care|0.4|1.0|130.0|0.0|Managed health care|Managed Health Care
hospitals|11.9|27.6|107.9|0.0|Hospitals and nursing facilities|Hospital/Nursing Management
medical_services|4.2|9.7|76.5|0.0|Medical and nursing services|Medical/Nursing Services
health_industry_services|17.8|16.2|111.1|0.0|Services to the health industry|Services to the Health Industry
media_conglomerates|6.2|6.6|49.9|10.0|Media conglomerates|Media Conglomerates
broadcasting|12.7|4.0|62.3|20.0|Broadcasting|Broadcasting
cable_satellite|9.7|10.5|65.1|40.0|Cable and satellite television|Cable/Satellite TV
newspapers|1.3|9.2|47.8|5.0|Newspaper publishing|Publishing: Newspapers
books_magazines|1.3|9.7|83.7|5.0|Book and magazine publishing|Publishing: Books/Magazines
entertainment|1.6|11.5|50.3|10.0|Film, music and live entertainment|Movies/Entertainment
restaurants|9.2|69.5|127.7|0.0|Restaurants|Restaurants
hotels_cruise|63.1|48.4|100.6|0.0|Hotels, resorts and cruise lines|Hotels/Resorts/Cruise lines
casinos_gaming|21.1|44.8|88.9|0.0|Casinos and gaming|Casinos/Gaming
consumer_services|18.2|22.5|83.9|0.0|Education and personal services|Other Consumer Services
food_retail|1.5|24.7|425.3|0.0|Food retail|Food Retail
drugstores|0.4|10.7|133.8|0.0|Drugstores and pharmacies|Drugstore Chains
department_stores|0.7|21.7|232.7|0.0|Department stores|Department Stores
discount_stores|0.6|17.8|317.9|0.0|Discount and general merchandise stores|Discount Stores
apparel_retail|0.6|16.8|201.5|0.0|Apparel and footwear retail|Apparel/Footwear Retail
home_improvement_retail|1.1|12.2|234.1|0.0|Home improvement retail|Home Improvement Chains
electronics_retail|0.6|8.8|130.8|0.0|Electronics and appliance retail|Electronics/Appliance Stores
specialty_retail|0.8|9.5|221.7|0.0|Specialty retail|Specialty Stores
catalogue_retail|0.5|7.7|182.5|0.0|Catalogue and specialty distribution|Catalog/Specialty Distribution
internet_retail|7.9|11.8|184.7|0.0|Internet retail|Internet Retail
air_freight_couriers|213.0|5.5|124.6|0.0|Air freight and couriers|Air Freight/Couriers
airlines|760.0|0.8|165.1|0.0|Airlines|Airlines
trucking|472.7|6.6|115.6|0.0|Trucking|Trucking
railroads|348.1|0.9|117.0|0.0|Railroads|Railroads
marine_shipping|536.7|3.3|275.9|0.0|Marine shipping|Marine Shipping
other_transport|66.8|57.5|155.1|0.0|Transport infrastructure, transit and logistics|Other Transportation
electric_utilities|3103.1|40.0|250.0|0.0|Electric utilities|Electric Utilities
gas_distribution|315.7|34.8|181.6|5500.0|Gas distribution|Gas Distributors
water_utilities|380.0|13.7|184.4|0.0|Water utilities|Water Utilities
renewable_power|8.0|12.0|250.0|0.0|Renewable and alternative power generation|Alternative Power Generation
major_banks|7.2|7.5|44.3|0.0|Banks, major|Major Banks
regional_banks|7.2|7.5|44.3|0.0|Banks, regional|Regional Banks
savings_banks|7.2|7.5|44.3|0.0|Savings banks|Savings Banks
finance_leasing|13.4|9.1|63.6|0.0|Consumer finance, rental and leasing|Finance/Rental/Leasing
investment_banks|2.0|5.7|35.3|0.0|Investment banks and brokers|Investment Banks/Brokers
investment_managers|3.2|5.5|57.3|0.0|Investment managers|Investment Managers
financial_conglomerates|3.4|4.4|37.4|0.0|Financial conglomerates|Financial Conglomerates
insurance_pc|0.4|1.0|31.7|0.0|Insurance, property and casualty|Property/Casualty Insurance
insurance_multiline|0.4|1.1|34.3|0.0|Insurance, multi-line|Multi-Line Insurance
insurance_life|0.5|2.0|48.6|0.0|Insurance, life and health|Life/Health Insurance
insurance_specialty|0.4|1.0|31.7|0.0|Insurance, specialty and reinsurance|Specialty Insurance
insurance_brokers|0.3|1.8|26.9|0.0|Insurance brokers and services|Insurance Brokers/Services
real_estate_development|36.2|75.0|127.2|100.0|Real estate development and operation|Real Estate Development
reits|39.8|103.1|103.1|150.0|Real estate investment trusts|Real Estate Investment Trusts
telecom_integrated|0.8|18.0|56.2|30.0|Telecommunications, integrated|Major Telecommunications
telecom_specialty|0.8|17.9|56.5|20.0|Telecommunications, specialty|Specialty Telecommunications
telecom_wireless|0.9|9.8|85.3|30.0|Telecommunications, wireless|Wireless Telecommunications
miscellaneous|72.7|24.7|156.6|0.0|Miscellaneous / unclassified company|Miscellaneous
investment_funds|3.2|5.5|57.3|0.0|Investment trusts and funds|Investment Trusts/Mutual Funds
cement_lime|4664.9|252.0|354.5|0.0|Cement and lime
glass|319.0|146.7|382.9|0.0|Glass
fertilisers|1076.2|29.0|510.8|1800.0|Fertilisers and nitrogen compounds
crop_farming|511.4|9.8|248.4|0.0|Crop farming
livestock_farming|1328.7|10.4|750.9|0.0|Livestock farming
forestry_logging|122.5|3.2|163.9|0.0|Forestry and logging
fishing_aquaculture|95.5|5.1|54.3|0.0|Fishing and aquaculture
fossil_power|8000.0|30.0|600.0|0.0|Fossil-fuelled power generation
nuclear_power|10.0|15.0|120.0|0.0|Nuclear power generation
power_networks|30.0|350.0|120.0|0.0|Electricity transmission and distribution
ports_airports|39.4|9.3|113.3|0.0|Ports, airports and toll roads
warehousing|14.9|141.4|87.7|0.0|Warehousing and storage
education|30.3|21.5|86.8|0.0|Education
public_administration|5.8|1.5|52.7|0.0|Public administration
social_care|7.0|18.3|144.6|0.0|Social care
professional_services|2.1|7.3|60.2|0.0|Legal, accounting and consulting services
research_development|21.2|17.0|117.8|0.0|Scientific research and development
sports_recreation|25.2|43.5|110.5|0.0|Sports and recreation facilities
`;

const BY_NAME = readIndustries(INDUSTRIES);

/** The industry of this id or name; upper and lower case, accents and punctuation do not count. */
export function intensityOfIndustry(text: string): IndustryIntensity | undefined {
  return BY_NAME.get(foldName(text));
}

function readIndustries(lines: string): ReadonlyMap<string, IndustryIntensity> {
  return new Map(
    lines
      .trim()
      .split("\n")
      .flatMap((line) => {
        const [id = "", scope1, scope2, upstream, downstream, ...names] = line.split("|");
        const intensity = {
          scope1TCO2ePerMUSD: Number(scope1),
          scope2TCO2ePerMUSD: Number(scope2),
          scope3TCO2ePerMUSD: Number(upstream) + Number(downstream),
        };
        return [id, ...names].map((name) => [foldName(name), intensity] as const);
      }),
  );
}
