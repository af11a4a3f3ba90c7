/**
 * One line an industry, its columns divided by `|`, several codes in one by spaces:
 *
 * id, name, other name, sector; ISIC Rev. 4, NACE Rev. 2 and NAICS 2017 codes; t CO2e per million USD of 2022 revenue
 * (producer prices) in scope 1, scope 2, scope 3 upstream, scope 3 downstream; exponent of scope 1 on the carbon
 * intensity of the economy; value added per output; group; pass-through in the short and in the long run; price of full
 * abatement, USD per t CO2e; price elasticity of demand; tangible share of assets; sensitivity to heat; volatility of
 * assets; source of the factors (`FACTOR_SOURCES` in industries.ts).
 *
 * Factors: US EPA Supply Chain Greenhouse Gas Emission Factors v1.3 and USEEIO v2.0.1 (US public domain), OECD ICIO 2025
 * (CC BY 4.0) where the source says so. What docs/methods/company.md marks as judgement is ours.
 */
export const INDUSTRY_TABLE = `
iron_steel|Iron and steel|Steel|Metals and mining|2410 2431|24.1 24.2 24.3 24.51 24.52|3311 3312 33151|334.2|74|469.1|0|.55|.244|steel|.7|.9|170|.5|.5|1.1|.3|steel
aluminium|Aluminium|Aluminum|Metals and mining|2420|24.42|3313|500|800|520|0|.55|.199|metals|.25|.6|150|.5|.5|1.1|.3|aluminium
precious_metals|Precious metals mining and refining|Precious Metals|Metals and mining|0729 2420|07.29 24.41|212221 212222 331410|399.5|85|161.9|0|.17|.482|mining|.3|.9|150|.3|.6|1.3|.3|epa
other_metals_minerals|Other metals and minerals|Other Metals/Minerals|Metals and mining|0710 0729 0891 0899 2420|07.10 07.29 08.91 08.99 24.43 24.44 24.45|2122 2123 3314|151|47|241.3|0|.17|.346|mining|.3|.9|150|.3|.6|1.3|.3|epa
wood_products|Forestry and wood products|Forest Products|Forest, paper and packaging|0220 1610 1621 1622|02.20 16.10 16.21 16.23|1133 3211 3212 3219|43.3|34.8|175.2|0|.55|.359|pulp_paper|.45|.9|150|.3|.5|1|.25|epa
construction_materials|Construction materials (aggregates, concrete, cement mix)|Construction Materials|Building materials|0810 2392 2394 2395 2396|08.1 23.3 23.5 23.6 23.7|2123 3271 3273 3274 32799|2423|145.1|432.7|0|.55|.42|cement|.3|.9|150|.4|.6|1.2|.28|epa
metal_fabrication|Metal fabrication|Metal Fabrication|Industrial goods|2511 2512 2591 2592 2599|25.1 25.5 25.6 25.9|332|31.4|30.4|252.5|0|.57|.407|light_mfg|.55|.9|200|.5|.25|.85|.25|epa
industrial_machinery|Industrial machinery|Industrial Machinery|Industrial goods|2811 2812 2813 2814 2816 2818 2819 2822 2823 2826 2829|28.1 28.2 28.4 28.9|333|11.9|16.1|224|1500|.57|.383|light_mfg|.55|.9|200|.5|.25|.85|.25|epa
heavy_vehicles_machinery|Trucks, construction and farm machinery|Trucks/Construction/Farm Machinery|Industrial goods|2821 2824 2910 3020|28.3 28.92 29.10 30.2|33311 33312 33612 3365|21.4|6.5|272.5|4000|.57|.287|autos|.6|.9|200|.8|.3|.85|.28|epa
auto_parts|Motor vehicle parts|Auto Parts: OEM|Automotive|2930|29.3|3363|10.3|20.5|312.2|300|.57|.232|autos|.6|.9|200|.8|.3|.85|.28|epa
building_products|Building products|Building Products|Building materials|1622 2310 2392 2393 2512 2825|16.23 23.1 23.3 25.12 28.25|32191 32712 332321 333415 337110 324122|93.9|23.4|200.4|500|.57|.392|light_mfg|.55|.9|200|.5|.25|.85|.25|epa
electrical_products|Electrical equipment|Electrical Products|Industrial goods|2710 2720 2731 2732 2733 2740 2790|27.1 27.2 27.3 27.4 27.9|3351 3353 3359|11.4|17.6|189.5|1000|.57|.418|light_mfg|.55|.9|200|.5|.25|.85|.25|epa
office_equipment|Office equipment and supplies|Office Equipment/Supplies|Industrial goods|1709 2817 3100 3290|17.23 28.23 31.01 32.99|32223 33721 339940|16.1|21.5|264.7|50|.57|.349|light_mfg|.55|.9|200|.5|.25|.85|.25|epa
misc_manufacturing|Miscellaneous manufacturing|Miscellaneous Manufacturing|Industrial goods|2219 2220 3290|22.19 22.29 32.99|3261 3262 3399|21.2|46.2|361.1|50|.57|.357|light_mfg|.55|.9|200|.5|.25|.85|.25|epa
industrial_conglomerates|Industrial conglomerates|Industrial Conglomerates|Industrial goods|6420 28 27|64.20 28 27|551112 333 335|61.8|18.7|234.3|1000|.57|.412|light_mfg|.55|.9|200|.5|.25|.85|.25|epa
semiconductors|Semiconductors|Semiconductors|Technology hardware|2610|26.11|334413|96|37.1|85.1|150|.57|.736|electronics|.6|.9|200|.6|.3|.7|.32|epa
electronic_components|Electronic components|Electronic Components|Technology hardware|2610|26.11 26.12|33441|5.9|9.5|74|50|.57|.512|electronics|.6|.9|200|.6|.3|.7|.32|epa
electronic_instruments|Electronic equipment and instruments|Electronic Equipment/Instruments|Technology hardware|2651 2652 2660 2670|26.5 26.7|3345 33331|3.5|5.9|74.8|80|.57|.664|electronics|.6|.9|200|.6|.3|.7|.32|epa
telecom_equipment|Telecommunications equipment|Telecommunications Equipment|Technology hardware|2630|26.3|3342|4.2|5.9|70|150|.57|.637|electronics|.6|.9|200|.6|.3|.7|.32|epa
aerospace_defence|Aerospace and defence|Aerospace & Defense|Aerospace and defence|2520 3030 3040 3011|25.4 30.1 30.3 30.4|3364 336611 336992 33299|8.9|13.8|128.2|4000|.57|.507|light_mfg|.55|.9|200|.5|.25|.85|.25|epa
computer_hardware|Computers and servers|Computer Processing Hardware|Technology hardware|2620|26.2|334111|.3|2|42.3|200|.57|.732|electronics|.6|.9|200|.6|.3|.7|.32|epa
computer_peripherals|Computer peripherals and storage|Computer Peripherals|Technology hardware|2620 2680|26.2 26.8|334112 334118 33461|9.6|7.7|92.1|150|.57|.608|electronics|.6|.9|200|.6|.3|.7|.32|epa
network_equipment|Computer networking equipment|Computer Communications|Technology hardware|2620 2630|26.2 26.3|334210 334118|9.5|6|106.6|150|.57|.637|electronics|.6|.9|200|.6|.3|.7|.32|epa
electronic_production_equipment|Semiconductor and electronics production equipment|Electronic Production Equipment|Technology hardware|2829|28.99|333242|5.2|9.2|143.7|600|.57|.427|electronics|.6|.9|200|.6|.3|.7|.32|epa
motor_vehicles|Motor vehicles|Motor Vehicles|Automotive|2910 3091|29.1 30.91|3361 336991|12.8|5|268.8|1100|.57|.226|autos|.6|.9|200|.8|.3|.85|.28|epa
auto_aftermarket|Automotive aftermarket|Automotive Aftermarket|Automotive|2211 2930 4530|22.11 29.32 45.3|32621 3363 4413|8.5|21.1|130.5|300|.57|.568|light_mfg|.55|.9|200|.5|.25|.85|.25|epa
homebuilding|Homebuilding|Homebuilding|Construction and real estate|4100|41.1 41.2|2361|25.8|8|164.9|300|.55|.637|construction|.6|.9|250|.4|.15|1.7|.25|epa
home_furnishings|Home furnishings|Home Furnishings|Consumer durables|1392 1393 3100|13.92 13.93 31.0|3371 3379 3141|32.1|23.8|322.1|20|.57|.329|consumer_goods|.6|.9|200|.5|.22|.8|.22|epa
consumer_electronics_appliances|Consumer electronics and appliances|Electronics/Appliances|Consumer durables|2640 2750|26.4 27.5|3343 3352|4.7|6.3|131.9|400|.57|.504|consumer_goods|.6|.9|200|.5|.22|.8|.22|epa
tools_hardware|Tools and hardware|Tools & Hardware|Consumer durables|2593 2818|25.7 28.24|3322 3325 333991|23.4|24.8|240.1|100|.57|.447|consumer_goods|.6|.9|200|.5|.22|.8|.22|epa
recreational_products|Recreational products and toys|Recreational Products|Consumer durables|3012 3092 3230 3240|30.12 30.92 32.3 32.4|33992 33993 336612 336214|12.1|9.8|208|200|.57|.309|consumer_goods|.6|.9|200|.5|.22|.8|.22|epa
consumer_specialties|Jewellery, watches and leather goods|Other Consumer Specialties|Consumer durables|1512 2652 3211 3212|15.12 26.52 32.1|33991 316 334519|5.9|10.5|199|5|.57|.547|consumer_goods|.6|.9|200|.5|.22|.8|.22|epa
oil_gas_production|Oil and gas production|Oil & Gas Production|Oil, gas and coal|0610 0620|06.1 06.2|2111|275.4|14.6|113.1|5000|.17|.615|oilgas_up|.4|.9|120|.3|.65|1.1|.3|epa
integrated_oil|Integrated oil and gas|Integrated Oil|Oil, gas and coal|0610 0620 1920|06 19.2|2111 32411|188.1|11.4|176.3|4000|.17|.406|oilgas_up|.4|.9|120|.3|.65|1.1|.3|integrated
oil_refining|Oil refining and marketing|Oil Refining/Marketing|Oil, gas and coal|1920 4661 4730|19.2 46.71 47.3|32411 4247 447|100.8|9.3|206.7|3300|.55|.313|refining|.85|.9|180|.25|.55|.9|.28|refining
coal_mining|Coal mining|Coal|Oil, gas and coal|0510 0520 1910|05 19.1|2121|880.5|37.8|165.8|20000|.17|.565|coal|.2|.9|120|.6|.6|1.2|.35|epa
diversified_chemicals|Basic and diversified chemicals|Chemicals: Major Diversified|Chemicals|2011 2013 2030|20.1 20.6|3251 3252|418.7|74|627.5|800|.55|.257|chemicals_bulk|.5|.9|200|.45|.45|.9|.26|epa
specialty_chemicals|Specialty chemicals|Chemicals: Specialty|Chemicals|2022 2029|20.3 20.5|3255 3259 325120|170.2|61.3|398.6|300|.57|.336|chemicals_spec|.6|.9|200|.45|.35|.85|.25|epa
agricultural_chemicals|Fertilisers and agricultural chemicals|Chemicals: Agricultural|Chemicals|2012 2021|20.15 20.2|3253|747.1|25.3|522.4|1500|.55|.36|chemicals_bulk|.5|.9|200|.45|.45|.9|.26|epa
textiles|Textiles|Textiles|Consumer non-durables|1311 1312 1313 1391 1392 1399|13|313 314|53.2|69.9|431.8|20|.57|.318|consumer_goods|.6|.9|200|.5|.22|.8|.22|epa
agri_commodities_milling|Agricultural commodities and milling|Agricultural Commodities/Milling|Food, beverage and tobacco|0111 0112 0150 1040 1061 1062 1080|01.1 01.4 10.4 10.6 10.9|111 112 3111 3112|112.3|23.1|573|20|.57|.176|food|.6|.9|200|.4|.3|.9|.2|epa
pulp_paper|Pulp and paper|Pulp & Paper|Forest, paper and packaging|1701|17.1|3221|368.9|129.6|412|100|.55|.321|pulp_paper|.45|.9|150|.3|.5|1|.25|epa
packaging|Containers and packaging|Containers/Packaging|Forest, paper and packaging|1702 2220 2310 2599|17.21 22.22 23.13 25.92|32221 32611 32721 33243|79.3|55.9|438.4|100|.57|.294|light_mfg|.55|.9|200|.5|.25|.85|.25|epa
industrial_specialties|Paints, plastics and industrial specialties|Industrial Specialties|Chemicals|2022 2219 2220|20.3 22.1 22.2 23.9|3255 326 32791|63.7|28.8|349.2|100|.57|.341|chemicals_spec|.6|.9|200|.45|.35|.85|.25|epa
pharma_major|Pharmaceuticals, major|Pharmaceuticals: Major|Health care products|2100|21.2|325412|6.5|8.2|93.7|5|.57|.592|pharma|.7|.9|200|.2|.2|.67|.25|epa
pharma_other|Pharmaceuticals, other|Pharmaceuticals: Other|Health care products|2100|21.1 21.2|325411 325412|18.4|8.4|91.9|5|.57|.584|pharma|.7|.9|200|.2|.2|.67|.25|epa
pharma_generic|Pharmaceuticals, generic|Pharmaceuticals: Generic|Health care products|2100|21.1 21.2|325411 325412|18.4|8.4|91.9|5|.57|.584|pharma|.7|.9|200|.2|.2|.67|.25|epa
biotechnology|Biotechnology|Biotechnology|Health care products|2100 7210|21.1 72.11|325414 541714|30.4|16.7|126|2|.57|.619|pharma|.7|.9|200|.2|.2|.67|.25|epa
medical_devices|Medical devices and instruments|Medical Specialties|Health care products|2660 3250|26.6 32.5|3391 334510|7.1|11.5|129.7|20|.57|.646|pharma|.7|.9|200|.2|.2|.67|.25|epa
food_diversified|Food, diversified|Food: Major Diversified|Food, beverage and tobacco|1030 1050 1061 1071 1074 1075 1079|10|311|45|25.3|561.4|50|.57|.262|food|.6|.9|200|.4|.3|.9|.2|epa
food_specialty|Food, specialty and confectionery|Food: Specialty/Candy|Food, beverage and tobacco|1071 1073 1079|10.7 10.8|3113 3118 3119|36.4|24.9|421.6|50|.57|.294|food|.6|.9|200|.4|.3|.9|.2|epa
food_meat_fish_dairy|Meat, fish and dairy|Food: Meat/Fish/Dairy|Food, beverage and tobacco|1010 1020 1050|10.1 10.2 10.5|3115 3116 3117|20|14.3|1076.8|50|.57|.155|food|.6|.9|200|.4|.3|.9|.2|epa
beverages_nonalcoholic|Beverages, non-alcoholic|Beverages: Non-Alcoholic|Food, beverage and tobacco|1104|11.07|31211 31193|12.3|18.2|244.9|60|.57|.267|food|.6|.9|200|.4|.3|.9|.2|epa
beverages_alcoholic|Beverages, alcoholic|Beverages: Alcoholic|Food, beverage and tobacco|1101 1102 1103|11.01 11.02 11.05|31212 31213 31214|50.4|17.4|313.9|30|.57|.402|food|.6|.9|200|.4|.3|.9|.2|epa
tobacco|Tobacco|Tobacco|Food, beverage and tobacco|1200|12|3122|4.7|6.5|95.9|5|.57|.72|consumer_goods|.6|.9|200|.5|.22|.8|.22|epa
household_personal_care|Household and personal care|Household/Personal Care|Consumer non-durables|1709 2023|17.22 20.4|3256 322291|93.5|28.3|300.9|600|.57|.45|consumer_goods|.6|.9|200|.5|.22|.8|.22|epa
apparel_footwear|Apparel and footwear|Apparel/Footwear|Consumer non-durables|1410 1420 1430 1520|14 15.2|315 316|14.4|10.7|274.9|50|.57|.529|consumer_goods|.6|.9|200|.5|.22|.8|.22|epa
consumer_sundries|Consumer sundries|Consumer Sundries|Consumer non-durables|3290 2220|32.9 22.29|3399 326199|19.3|46.6|356.1|20|.57|.377|consumer_goods|.6|.9|200|.5|.22|.8|.22|epa
contract_drilling|Contract drilling|Contract Drilling|Oil, gas and coal|0910|09.1|213111|247.5|10.2|149.3|0|.17|.569|oil_services|.4|.9|200|.4|.45|1.2|.32|epa
oilfield_services|Oilfield services and equipment|Oilfield Services/Equipment|Oil, gas and coal|0910 2824|09.1 28.92|213112 333132|193.9|10.4|141.9|0|.17|.529|oil_services|.4|.9|200|.4|.45|1.2|.32|epa
engineering_construction|Engineering and construction|Engineering & Construction|Construction and real estate|4100 4210 4220 4290 4321 7110|41 42 43 71.12|236 237 238 5413|56.3|10.1|113.8|200|.55|.567|construction|.6|.9|250|.4|.15|1.7|.25|epa
environmental_services|Waste and environmental services|Environmental Services|Utilities and environment|3700 3811 3812 3821 3822 3830 3900|37 38 39|562|715.7|9.2|263.1|0|.64|.521|waste|.7|.9|150|.3|.45|1.2|.2|epa
oil_gas_pipelines|Oil and gas pipelines|Oil & Gas Pipelines|Oil, gas and coal|4930|49.5|486|1480.5|52.8|85.6|0|.62|.69|pipelines|.9|.9|150|.3|.7|.8|.18|epa
commercial_services|Commercial and business support services|Miscellaneous Commercial Services|Business services|7020 7490 8010 8110 8121 8211 8299|70 74 80 81 82|561 5416|8.6|8.6|102.9|0|.71|.616|services|.65|.9|200|.4|.12|.67|.25|epa
advertising_marketing|Advertising and marketing|Advertising/Marketing Services|Business services|7310 7320|73|5418 54191|5|9.7|69.3|0|.71|.588|services|.65|.9|200|.4|.12|.67|.25|epa
commercial_printing|Commercial printing|Commercial Printing/Forms|Business services|1811 1812|18.1|3231|44.1|33.2|180|5|.57|.477|light_mfg|.55|.9|200|.5|.25|.85|.25|epa
financial_publishing|Financial data and publishing|Financial Publishing/Services|Business services|6312 6619 8291|63.1 66.19 82.91|5191 5614 523999|3.2|7.2|62.7|0|.71|.501|services|.65|.9|200|.4|.12|.67|.25|epa
personnel_services|Staffing and personnel services|Personnel Services|Business services|7810 7820 7830|78|5613|.3|2.1|48.6|0|.71|.77|services|.65|.9|200|.4|.12|.67|.25|epa
wholesale|Wholesale distribution|Wholesale Distributors|Wholesale trade|4610 4641 4649 4653 4659 4662 4663 4669 4690|46|423 424|1.7|5.2|279.7|0|.71|.115|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .21
food_wholesale|Food wholesale|Food Distributors|Wholesale trade|4630|46.3|4244|.9|6.3|488.7|0|.71|.083|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .16
electronics_wholesale|Electronics wholesale|Electronics Distributors|Wholesale trade|4651 4652|46.5|4234 4236|.3|3.1|132.2|0|.71|.118|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .20
medical_wholesale|Medical wholesale|Medical Distributors|Wholesale trade|4649|46.46|4242 42345|.1|1.8|106.9|0|.71|.043|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .08
data_processing|Data processing and hosting|Data Processing Services|Technology services|6311|63.11|5182|3.4|19.2|70.4|0|.71|.493|software|.7|.9|100|.3|.1|.67|.3|epa
it_services|Information technology services|Information Technology Services|Technology services|6202 6209|62.02 62.09|5415|12.3|7.4|65.4|0|.71|.688|software|.7|.9|100|.3|.1|.67|.3|epa
software|Packaged software|Packaged Software|Technology services|5820 6201|58.2 62.01|5112|1.3|7.5|42|5|.71|.724|software|.7|.9|100|.3|.1|.67|.3|epa
internet_services|Internet software and services|Internet Software/Services|Technology services|6201 6312|62.01 63.12|51913 5182|2.4|15.2|67.3|5|.71|.491|software|.7|.9|100|.3|.1|.67|.3|epa
managed_health_care|Managed health care|Managed Health Care|Health care services|6512|65.12|524114|.4|1|130|0|.71|.511|insurance|.6|.9|150|.3|.02|.67|.07|epa-medical
hospitals|Hospitals and nursing facilities|Hospital/Nursing Management|Health care services|8610 8710 8730|86.1 87|622 623|11.9|27.6|107.9|0|.71|.566|health_services|.6|.9|200|.2|.3|.67|.22|epa
medical_services|Medical and nursing services|Medical/Nursing Services|Health care services|8620 8690|86.2 86.9|621|4.2|9.7|76.5|0|.71|.661|health_services|.6|.9|200|.2|.3|.67|.22|epa
health_industry_services|Services to the health industry|Services to the Health Industry|Health care services|7210 8690|72.1 86.9|6215 54171 5614|17.8|16.2|111.1|0|.71|.588|health_services|.6|.9|200|.2|.3|.67|.22|epa
media_conglomerates|Media conglomerates|Media Conglomerates|Media and entertainment|5911 6020|59 60|512 515|6.2|6.6|49.9|10|.71|.577|services|.65|.9|200|.4|.12|.67|.25|epa
broadcasting|Broadcasting|Broadcasting|Media and entertainment|6010 6020|60|5151|12.7|4|62.3|20|.71|.536|services|.65|.9|200|.4|.12|.67|.25|epa
cable_satellite|Cable and satellite television|Cable/Satellite TV|Media and entertainment|6020 6110 6130|60.2 61.1 61.3|5152 517311 517410|9.7|10.5|65.1|40|.71|.475|telecom|.6|.9|150|.3|.4|.67|.2|epa
newspapers|Newspaper publishing|Publishing: Newspapers|Media and entertainment|5813|58.13|51111|1.3|9.2|47.8|5|.71|.683|services|.65|.9|200|.4|.12|.67|.25|epa
books_magazines|Book and magazine publishing|Publishing: Books/Magazines|Media and entertainment|5811 5813|58.11 58.14|51112 51113 51114|1.3|9.7|83.7|5|.71|.539|services|.65|.9|200|.4|.12|.67|.25|epa
entertainment|Film, music and live entertainment|Movies/Entertainment|Media and entertainment|5911 5914 5920 9000 9321|59 90 93|5121 5122 711 7131|1.6|11.5|50.3|10|.71|.637|leisure|.6|.9|200|.6|.45|1|.28|epa
restaurants|Restaurants|Restaurants|Leisure and hospitality|5610 5630|56|7223 7224 7225|9.2|69.5|127.7|0|.71|.543|leisure|.6|.9|200|.6|.45|1|.28|epa
hotels_cruise|Hotels, resorts and cruise lines|Hotels/Resorts/Cruise lines|Leisure and hospitality|5510 5011|55 50.1|7211 483112|63.1|48.4|100.6|0|.71|.59|leisure|.6|.9|200|.6|.45|1|.28|epa
casinos_gaming|Casinos and gaming|Casinos/Gaming|Leisure and hospitality|9200|92|7132 72112|21.1|44.8|88.9|0|.71|.608|leisure|.6|.9|200|.6|.45|1|.28|epa
consumer_services|Education and personal services|Other Consumer Services|Leisure and hospitality|7911 8530 8549 9601 9602 9609|79 85 96|611 812 5615|18.2|22.5|83.9|0|.71|.672|services|.65|.9|200|.4|.12|.67|.25|epa
food_retail|Food retail|Food Retail|Retail trade|4711 4721|47.11 47.2|4451|1.5|24.7|425.3|0|.71|.183|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .29
drugstores|Drugstores and pharmacies|Drugstore Chains|Retail trade|4772|47.73 47.74 47.75|44611|.4|10.7|133.8|0|.71|.164|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .25
department_stores|Department stores|Department Stores|Retail trade|4719|47.19|4522|.7|21.7|232.7|0|.71|.207|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .33
discount_stores|Discount and general merchandise stores|Discount Stores|Retail trade|4711 4719|47.11 47.19|4523|.6|17.8|317.9|0|.71|.17|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .27
apparel_retail|Apparel and footwear retail|Apparel/Footwear Retail|Retail trade|4771|47.71 47.72|448|.6|16.8|201.5|0|.71|.222|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .43
home_improvement_retail|Home improvement retail|Home Improvement Chains|Retail trade|4752|47.52|4441|1.1|12.2|234.1|0|.71|.25|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .34
electronics_retail|Electronics and appliance retail|Electronics/Appliance Stores|Retail trade|4741 4742 4759|47.4 47.54|4431|.6|8.8|130.8|0|.71|.155|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .25
specialty_retail|Specialty retail|Specialty Stores|Retail trade|4510 4761 4763 4773 4774|45.1 47.6 47.7|441 451 453|.8|9.5|221.7|0|.71|.22|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .33
catalogue_retail|Catalogue and specialty distribution|Catalog/Specialty Distribution|Retail trade|4791|47.91|4541|.5|7.7|182.5|0|.71|.256|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .38
internet_retail|Internet retail|Internet Retail|Retail trade|4791|47.91|45411|7.9|11.8|184.7|0|.71|.242|retail|.7|.9|200|.5|.3|.7|.24|epa-sales .38
air_freight_couriers|Air freight and couriers|Air Freight/Couriers|Transport|5120 5229 5320|51.2 52.29 53.2|481112 4885 492|213|5.5|124.6|0|.62|.511|trucking|.7|.9|250|.3|.45|1.1|.25|epa
airlines|Airlines|Airlines|Transport|5110|51.1|481111|760|.8|165.1|0|0|.448|airlines|.6|.9|400|.8|.6|.8|.3|airlines
trucking|Trucking|Trucking|Transport|4923|49.4|484|472.7|6.6|115.6|0|.62|.43|trucking|.7|.9|250|.3|.45|1.1|.25|epa
railroads|Railroads|Railroads|Transport|4911 4912|49.1 49.2|482|348.1|.9|117|0|.62|.5|rail|.7|.9|250|.3|.65|1|.2|epa
marine_shipping|Marine shipping|Marine Shipping|Transport|5011 5012 5021 5022|50|483|536.7|3.3|275.9|0|0|.288|shipping|.7|.9|300|.2|.65|.8|.3|epa
other_transport|Transport infrastructure, transit and logistics|Other Transportation|Transport|4921 4922 5210 5221 5222 5223 5224|49.3 52|485 488 493|66.8|57.5|155.1|0|.62|.441|rail|.7|.9|250|.3|.65|1|.2|epa
electric_utilities|Electric utilities|Electric Utilities|Utilities and environment|3510|35.1|2211|3103.1|40|250|0|0|.6|power|.85|.85|100|.2|.75|.8|.18|power
gas_distribution|Gas distribution|Gas Distributors|Utilities and environment|3520|35.2|2212|315.7|34.8|181.6|5500|.62|.586|pipelines|.9|.9|150|.3|.7|.8|.18|epa
water_utilities|Water utilities|Water Utilities|Utilities and environment|3600 3700|36 37|2213|380|13.7|184.4|0|.64|.502|water|.8|.9|200|.2|.75|.8|.15|epa
renewable_power|Renewable and alternative power generation|Alternative Power Generation|Utilities and environment|3510|35.11|221111 221114 221115 221116|8|12|250|0|0|.7|power_renew|.75|.85|100|.2|.8|.8|.2|renewables
major_banks|Banks, major|Major Banks|Financial services|6419|64.19|52211|7.2|7.5|44.3|0|.71|.709|banks|.6|.9|150|.3|.02|.67|.06|epa
regional_banks|Banks, regional|Regional Banks|Financial services|6419|64.19|52211|7.2|7.5|44.3|0|.71|.709|banks|.6|.9|150|.3|.02|.67|.06|epa
savings_banks|Savings banks|Savings Banks|Financial services|6419|64.19|52212 52213|7.2|7.5|44.3|0|.71|.709|banks|.6|.9|150|.3|.02|.67|.06|epa
finance_leasing|Consumer finance, rental and leasing|Finance/Rental/Leasing|Financial services|6491 6492 7710 7730|64.91 64.92 77|5222 532|13.4|9.1|63.6|0|.71|.611|banks|.6|.9|150|.3|.02|.67|.06|epa
investment_banks|Investment banks and brokers|Investment Banks/Brokers|Financial services|6611 6612|66.11 66.12|5231 5232|2|5.7|35.3|0|.71|.544|fin_services|.6|.9|150|.4|.05|.67|.2|epa
investment_managers|Investment managers|Investment Managers|Financial services|6630|66.3|52392 52393|3.2|5.5|57.3|0|.71|.482|fin_services|.6|.9|150|.4|.05|.67|.2|epa
financial_conglomerates|Financial conglomerates|Financial Conglomerates|Financial services|6420 6499|64.2 64.99|551111 523 524|3.4|4.4|37.4|0|.71|.597|banks|.6|.9|150|.3|.02|.67|.06|epa
insurance_pc|Insurance, property and casualty|Property/Casualty Insurance|Insurance|6512|65.12|524126|.4|1|31.7|0|.71|.511|insurance|.6|.9|150|.3|.02|.67|.07|epa
insurance_multiline|Insurance, multi-line|Multi-Line Insurance|Insurance|6511 6512|65.1|5241|.4|1.1|34.3|0|.71|.545|insurance|.6|.9|150|.3|.02|.67|.07|epa
insurance_life|Insurance, life and health|Life/Health Insurance|Insurance|6511|65.11|524113 524114|.5|2|48.6|0|.71|.726|insurance|.6|.9|150|.3|.02|.67|.07|epa
insurance_specialty|Insurance, specialty and reinsurance|Specialty Insurance|Insurance|6512 6520|65.12 65.2|524127 524128 52413|.4|1|31.7|0|.71|.511|insurance|.6|.9|150|.3|.02|.67|.07|epa
insurance_brokers|Insurance brokers and services|Insurance Brokers/Services|Insurance|6621 6622 6629|66.2|5242|.3|1.8|26.9|0|.71|.448|fin_services|.6|.9|150|.4|.05|.67|.2|epa
real_estate_development|Real estate development and operation|Real Estate Development|Construction and real estate|4100 6810 6820|41.1 68|2361 531|36.2|75|127.2|100|.71|.548|real_estate|.4|.9|200|.3|.9|.67|.18|epa
reits|Real estate investment trusts|Real Estate Investment Trusts|Construction and real estate|6810|68.2|5311|39.8|103.1|103.1|150|.71|.445|real_estate|.4|.9|200|.3|.9|.67|.18|epa
telecom_integrated|Telecommunications, integrated|Major Telecommunications|Telecommunications|6110 6120|61.1 61.2|517311|.8|18|56.2|30|.71|.539|telecom|.6|.9|150|.3|.4|.67|.2|epa
telecom_specialty|Telecommunications, specialty|Specialty Telecommunications|Telecommunications|6130 6190|61.3 61.9|5174 5179 517911|.8|17.9|56.5|20|.71|.53|telecom|.6|.9|150|.3|.4|.67|.2|epa
telecom_wireless|Telecommunications, wireless|Wireless Telecommunications|Telecommunications|6120|61.2|517312|.9|9.8|85.3|30|.71|.438|telecom|.6|.9|150|.3|.4|.67|.2|epa
miscellaneous|Miscellaneous / unclassified company|Miscellaneous|Other|9609|96.09||72.7|24.7|156.6|0|.71|.519|services|.65|.9|200|.4|.12|.67|.25|epa
investment_funds|Investment trusts and funds|Investment Trusts/Mutual Funds|Financial services|6430|64.3|5259|3.2|5.5|57.3|0|.71|.482|fin_services|.6|.9|150|.4|.05|.67|.2|epa
cement_lime|Cement and lime||Building materials|2394|23.5|327310 327410|4664.9|252|354.5|0|.55|.414|cement|.3|.9|150|.4|.6|1.2|.28|epa
glass|Glass||Building materials|2310|23.1|3272|319|146.7|382.9|0|.55|.426|chemicals_bulk|.5|.9|200|.45|.45|.9|.26|epa
fertilisers|Fertilisers and nitrogen compounds||Chemicals|2012|20.15|32531|1076.2|29|510.8|1800|.55|.373|chemicals_bulk|.5|.9|200|.45|.45|.9|.26|epa
crop_farming|Crop farming||Agriculture and fishing|0111 0112 0113 0114 0121 0122 0125 0130|01.1 01.2 01.3|111|511.4|9.8|248.4|0|0|.416|agri|.3|.9|250|.4|.6|1.55|.25|epa
livestock_farming|Livestock farming||Agriculture and fishing|0141 0144 0145 0146|01.4|112|1328.7|10.4|750.9|0|0|.314|agri|.3|.9|250|.4|.6|1.55|.25|epa
forestry_logging|Forestry and logging||Agriculture and fishing|0210 0220 0240|02|113|122.5|3.2|163.9|0|0|.538|agri|.3|.9|250|.4|.6|1.55|.25|epa
fishing_aquaculture|Fishing and aquaculture||Agriculture and fishing|0311 0312 0321 0322|03|1125 1141|95.5|5.1|54.3|0|0|.708|agri|.3|.9|250|.4|.6|1.55|.25|epa
fossil_power|Fossil-fuelled power generation||Utilities and environment|3510|35.11|221112|8000|30|600|0|0|.5|power|.85|.85|100|.2|.75|.8|.18|fossil
nuclear_power|Nuclear power generation||Utilities and environment|3510|35.11|221113|10|15|120|0|0|.7|power_renew|.75|.85|100|.2|.8|.8|.2|nuclear
power_networks|Electricity transmission and distribution||Utilities and environment|3510|35.12 35.13|221121 221122|30|350|120|0|.64|.6|water|.8|.9|200|.2|.75|.8|.15|networks
ports_airports|Ports, airports and toll roads||Transport|5221 5222 5223|52.2|4881 4882 4883 4884|39.4|9.3|113.3|0|.62|.484|rail|.7|.9|250|.3|.65|1|.2|epa
warehousing|Warehousing and storage||Transport|5210|52.1|493|14.9|141.4|87.7|0|.71|.434|real_estate|.4|.9|200|.3|.9|.67|.18|epa
education|Education||Public and social services|8510 8521 8530|85|611|30.3|21.5|86.8|0|.71|.706|services|.65|.9|200|.4|.12|.67|.25|epa
public_administration|Public administration||Public and social services|8411 8422|84|921|5.8|1.5|52.7|0|.71|.692|services|.65|.9|200|.4|.12|.67|.25|epa-scaled
social_care|Social care||Public and social services|8810 8890|88|624|7|18.3|144.6|0|.71|.567|health_services|.6|.9|200|.2|.3|.67|.22|epa
professional_services|Legal, accounting and consulting services||Business services|6910 6920 7020 7110|69 70 71|5411 5412 5413 5416|2.1|7.3|60.2|0|.71|.671|services|.65|.9|200|.4|.12|.67|.25|epa
research_development|Scientific research and development||Business services|7210 7220|72|5417|21.2|17|117.8|0|.71|.583|services|.65|.9|200|.4|.12|.67|.25|epa
sports_recreation|Sports and recreation facilities||Leisure and hospitality|9311 9329|93|7139 7112|25.2|43.5|110.5|0|.71|.578|leisure|.6|.9|200|.6|.45|1|.28|epa
`;
